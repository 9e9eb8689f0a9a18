-- Questions of our own in the shapes of JSONBench's, over a column of JSON.
-- name: d1
-- title: events by kind
SELECT doc ->> '$.commit.collection' AS kind, count(*) AS n FROM documents GROUP BY doc ->> '$.commit.collection' ORDER BY n DESC, kind;
-- for: postgres
SELECT doc::jsonb #>> '{commit,collection}' AS kind, count(*) AS n FROM documents GROUP BY 1 ORDER BY n DESC, kind;
-- for: mariadb, clickhouse
SELECT JSON_VALUE(doc, '$.commit.collection') AS kind, count(*) AS n FROM documents GROUP BY JSON_VALUE(doc, '$.commit.collection') ORDER BY n DESC, kind;

-- name: d2
-- title: events and users by kind
SELECT doc ->> '$.commit.collection' AS kind, count(*) AS n, count(DISTINCT doc ->> '$.did') AS users FROM documents WHERE (doc ->> '$.kind') = 'commit' AND (doc ->> '$.commit.operation') = 'create' GROUP BY doc ->> '$.commit.collection' ORDER BY n DESC, kind;
-- for: postgres
SELECT doc::jsonb #>> '{commit,collection}' AS kind, count(*) AS n, count(DISTINCT doc::jsonb ->> 'did') AS users FROM documents WHERE doc::jsonb ->> 'kind' = 'commit' AND doc::jsonb #>> '{commit,operation}' = 'create' GROUP BY 1 ORDER BY n DESC, kind;
-- for: mariadb, clickhouse
SELECT JSON_VALUE(doc, '$.commit.collection') AS kind, count(*) AS n, count(DISTINCT JSON_VALUE(doc, '$.did')) AS users FROM documents WHERE JSON_VALUE(doc, '$.kind') = 'commit' AND JSON_VALUE(doc, '$.commit.operation') = 'create' GROUP BY JSON_VALUE(doc, '$.commit.collection') ORDER BY n DESC, kind;

-- name: d3
-- title: when things are done
SELECT doc ->> '$.commit.collection' AS kind, CAST(doc ->> '$.hour' AS INTEGER) AS hour_of_day, count(*) AS n FROM documents WHERE (doc ->> '$.commit.collection') IN ('app.post', 'app.repost', 'app.like') GROUP BY doc ->> '$.commit.collection', CAST(doc ->> '$.hour' AS INTEGER) ORDER BY hour_of_day, kind;
-- for: postgres
SELECT doc::jsonb #>> '{commit,collection}' AS kind, CAST(doc::jsonb ->> 'hour' AS integer) AS hour_of_day, count(*) AS n FROM documents WHERE doc::jsonb #>> '{commit,collection}' IN ('app.post', 'app.repost', 'app.like') GROUP BY 1, 2 ORDER BY hour_of_day, kind;
-- for: mariadb
SELECT JSON_VALUE(doc, '$.commit.collection') AS kind, CAST(JSON_VALUE(doc, '$.hour') AS INTEGER) AS hour_of_day, count(*) AS n FROM documents WHERE JSON_VALUE(doc, '$.commit.collection') IN ('app.post', 'app.repost', 'app.like') GROUP BY JSON_VALUE(doc, '$.commit.collection'), CAST(JSON_VALUE(doc, '$.hour') AS INTEGER) ORDER BY hour_of_day, kind;
-- for: clickhouse
SELECT JSON_VALUE(doc, '$.commit.collection') AS kind, toInt64(JSON_VALUE(doc, '$.hour')) AS hour_of_day, count(*) AS n FROM documents WHERE kind IN ('app.post', 'app.repost', 'app.like') GROUP BY kind, hour_of_day ORDER BY hour_of_day, kind;

-- name: d4
-- title: the three first posters
SELECT doc ->> '$.did' AS did, min(CAST(doc ->> '$.time_us' AS BIGINT)) AS first_post FROM documents WHERE (doc ->> '$.commit.collection') = 'app.post' GROUP BY doc ->> '$.did' ORDER BY first_post, did LIMIT 3;
-- for: postgres
SELECT doc::jsonb ->> 'did' AS did, min(CAST(doc::jsonb ->> 'time_us' AS bigint)) AS first_post FROM documents WHERE doc::jsonb #>> '{commit,collection}' = 'app.post' GROUP BY 1 ORDER BY first_post, did LIMIT 3;
-- for: mariadb
SELECT JSON_VALUE(doc, '$.did') AS did, min(CAST(JSON_VALUE(doc, '$.time_us') AS INTEGER)) AS first_post FROM documents WHERE JSON_VALUE(doc, '$.commit.collection') = 'app.post' GROUP BY JSON_VALUE(doc, '$.did') ORDER BY first_post, did LIMIT 3;
-- for: clickhouse
SELECT JSON_VALUE(doc, '$.did') AS did, min(toInt64(JSON_VALUE(doc, '$.time_us'))) AS first_post FROM documents WHERE JSON_VALUE(doc, '$.commit.collection') = 'app.post' GROUP BY did ORDER BY first_post, did LIMIT 3;

-- name: d5
-- title: the three longest spans of activity
SELECT doc ->> '$.did' AS did, max(CAST(doc ->> '$.time_us' AS BIGINT)) - min(CAST(doc ->> '$.time_us' AS BIGINT)) AS span FROM documents WHERE (doc ->> '$.commit.collection') = 'app.post' GROUP BY doc ->> '$.did' ORDER BY span DESC, did LIMIT 3;
-- for: postgres
SELECT doc::jsonb ->> 'did' AS did, max(CAST(doc::jsonb ->> 'time_us' AS bigint)) - min(CAST(doc::jsonb ->> 'time_us' AS bigint)) AS span FROM documents WHERE doc::jsonb #>> '{commit,collection}' = 'app.post' GROUP BY 1 ORDER BY span DESC, did LIMIT 3;
-- for: mariadb
SELECT JSON_VALUE(doc, '$.did') AS did, max(CAST(JSON_VALUE(doc, '$.time_us') AS INTEGER)) - min(CAST(JSON_VALUE(doc, '$.time_us') AS INTEGER)) AS span FROM documents WHERE JSON_VALUE(doc, '$.commit.collection') = 'app.post' GROUP BY JSON_VALUE(doc, '$.did') ORDER BY span DESC, did LIMIT 3;
-- for: clickhouse
SELECT JSON_VALUE(doc, '$.did') AS did, max(toInt64(JSON_VALUE(doc, '$.time_us'))) - min(toInt64(JSON_VALUE(doc, '$.time_us'))) AS span FROM documents WHERE JSON_VALUE(doc, '$.commit.collection') = 'app.post' GROUP BY did ORDER BY span DESC, did LIMIT 3;
