// iso-list
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P500","P750"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_beg":{"$in":["2019-01-01T00:00:00Z","2019-01-01T06:00:00Z", /* 273 in all */ "2019-03-10T00:00:00Z"]}}, {_id: 1, data: 1})

// iso-range
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P500","P750"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_beg":{"$gte":"2019-01-01T00:00:00Z","$lte":"2019-03-10T00:00:00Z"},"fcst_valid_epoch":{"$mod":[21600,0]}}, {_id: 1, data: 1})

// epoch-list
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P500","P750"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_epoch":{"$in":[1546300800,1546322400, /* 273 in all */ 1552176000]}}, {_id: 1, data: 1})

// epoch-range
db.getCollection("doc_sal1l2.a").find({"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P500","P750"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_epoch":{"$gte":1546300800,"$lte":1552176000,"$mod":[21600,0]}}, {_id: 1, data: 1})

// keys
db.getCollection("doc_sal1l2.a").find({"_id":{"$in":[ /* 2 derived ids */ ]}}, {_id: 1, data: 1})

