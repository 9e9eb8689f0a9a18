// iso-list
db.getCollection("doc_sal1l2.a").aggregate([
  {"$match":{"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P10","P20","P30","P50","P70","P100","P150","P200","P250","P300","P400","P500","P700","P850","P925","P1000"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_beg":{"$in":["2019-01-01T00:00:00Z","2019-01-01T06:00:00Z", /* 273 in all */ "2019-03-10T00:00:00Z"]}}},
  {"$project":{"_id":1,"data":1}},
  {"$unwind":"$data"},
  {"$match":{"data.fcst_lead":{"$in":[518400]}}}
])

// iso-range
db.getCollection("doc_sal1l2.a").aggregate([
  {"$match":{"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P10","P20","P30","P50","P70","P100","P150","P200","P250","P300","P400","P500","P700","P850","P925","P1000"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_beg":{"$gte":"2019-01-01T00:00:00Z","$lte":"2019-03-10T00:00:00Z"},"fcst_valid_epoch":{"$mod":[21600,0]}}},
  {"$project":{"_id":1,"data":1}},
  {"$unwind":"$data"},
  {"$match":{"data.fcst_lead":{"$in":[518400]}}}
])

// epoch-list
db.getCollection("doc_sal1l2.a").aggregate([
  {"$match":{"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P10","P20","P30","P50","P70","P100","P150","P200","P250","P300","P400","P500","P700","P850","P925","P1000"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_epoch":{"$in":[1546300800,1546322400, /* 273 in all */ 1552176000]}}},
  {"$project":{"_id":1,"data":1}},
  {"$unwind":"$data"},
  {"$match":{"data.fcst_lead":{"$in":[518400]}}}
])

// epoch-range
db.getCollection("doc_sal1l2.a").aggregate([
  {"$match":{"model":"GFS","fcst_var":"HGT","fcst_lev":{"$in":["P10","P20","P30","P50","P70","P100","P150","P200","P250","P300","P400","P500","P700","P850","P925","P1000"]},"vx_mask":{"$in":["G2/NHX","G2/SHX"]},"fcst_valid_epoch":{"$gte":1546300800,"$lte":1552176000,"$mod":[21600,0]}}},
  {"$project":{"_id":1,"data":1}},
  {"$unwind":"$data"},
  {"$match":{"data.fcst_lead":{"$in":[518400]}}}
])

// keys
db.getCollection("doc_sal1l2.a").aggregate([
  {"$match":{"_id":{"$in":[ /* 2 derived ids */ ]}}},
  {"$project":{"_id":1,"data":1}},
  {"$unwind":"$data"},
  {"$match":{"data.fcst_lead":{"$in":[518400]}}}
])

