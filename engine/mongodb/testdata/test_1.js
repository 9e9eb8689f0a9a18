// iso-list
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":"P1000","vx_mask":"G2/NHX","fcst_valid_beg":{"$in":["2018-01-01T00:00:00Z","2018-01-01T06:00:00Z", /* 16 in all */ "2018-01-04T18:00:00Z"]}}, {_id: 1, data: 1})

// iso-range
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":"P1000","vx_mask":"G2/NHX","fcst_valid_beg":{"$gte":"2018-01-01T00:00:00Z","$lte":"2018-01-04T18:00:00Z"},"fcst_valid_epoch":{"$mod":[21600,0]}}, {_id: 1, data: 1})

// epoch-list
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":"P1000","vx_mask":"G2/NHX","fcst_valid_epoch":{"$in":[1514764800,1514786400, /* 16 in all */ 1515088800]}}, {_id: 1, data: 1})

// epoch-range
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":"P1000","vx_mask":"G2/NHX","fcst_valid_epoch":{"$gte":1514764800,"$lte":1515088800,"$mod":[21600,0]}}, {_id: 1, data: 1})

// keys
db.getCollection("doc_sal1l2.a").find({"_id":{"$in":[ /* 2 derived ids */ ]}}, {_id: 1, data: 1})

