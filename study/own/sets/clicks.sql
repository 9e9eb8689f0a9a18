-- Questions of our own in the shapes of ClickBench's, over a table of page views.
-- name: c01
-- title: how many rows
SELECT count(*) FROM clicks;
-- name: c02
-- title: rows of a rare value
SELECT count(*) FROM clicks WHERE campaign_id <> 0;
-- name: c03
-- title: three aggregates of all rows
SELECT sum(campaign_id) AS s, count(*) AS n, avg(width) AS w FROM clicks;
-- name: c04
-- title: mean of a large number
SELECT avg(user_id) AS mean_user FROM clicks;
-- name: c05
-- title: distinct numbers
SELECT count(DISTINCT user_id) AS users FROM clicks;
-- name: c06
-- title: distinct texts
SELECT count(DISTINCT search_phrase) AS phrases FROM clicks;
-- name: c07
-- title: least and greatest
SELECT min(event_date) AS first_day, max(event_date) AS last_day, min(duration) AS d0, max(duration) AS d1 FROM clicks;
-- name: c08
-- title: few groups
SELECT campaign_id, count(*) AS n FROM clicks WHERE campaign_id <> 0 GROUP BY campaign_id ORDER BY n DESC, campaign_id;
-- name: c09
-- title: distinct users by group
SELECT region_id, count(DISTINCT user_id) AS users FROM clicks GROUP BY region_id ORDER BY users DESC, region_id LIMIT 10;
-- name: c10
-- title: many aggregates by group
SELECT region_id, sum(campaign_id) AS s, count(*) AS n, avg(width) AS w, count(DISTINCT user_id) AS users FROM clicks GROUP BY region_id ORDER BY n DESC, region_id LIMIT 10;
-- name: c11
-- title: users by a text that is mostly empty
SELECT phone_model, count(DISTINCT user_id) AS users FROM clicks WHERE phone_model <> '' GROUP BY phone_model ORDER BY users DESC, phone_model LIMIT 10;
-- name: c12
-- title: two keys
SELECT phone_kind, phone_model, count(DISTINCT user_id) AS users FROM clicks WHERE phone_model <> '' GROUP BY phone_kind, phone_model ORDER BY users DESC, phone_kind, phone_model LIMIT 10;
-- name: c13
-- title: phrases
SELECT search_phrase, count(*) AS n FROM clicks WHERE search_phrase <> '' GROUP BY search_phrase ORDER BY n DESC, search_phrase LIMIT 10;
-- name: c14
-- title: phrases by the users that put them
SELECT search_phrase, count(DISTINCT user_id) AS users FROM clicks WHERE search_phrase <> '' GROUP BY search_phrase ORDER BY users DESC, search_phrase LIMIT 10;
-- name: c15
-- title: engines and phrases
SELECT engine_id, search_phrase, count(*) AS n FROM clicks WHERE search_phrase <> '' GROUP BY engine_id, search_phrase ORDER BY n DESC, engine_id, search_phrase LIMIT 10;
-- name: c16
-- title: as many groups as users
SELECT user_id, count(*) AS n FROM clicks GROUP BY user_id ORDER BY n DESC, user_id LIMIT 10;
-- name: c17
-- title: users and phrases
SELECT user_id, search_phrase, count(*) AS n FROM clicks GROUP BY user_id, search_phrase ORDER BY n DESC, user_id, search_phrase LIMIT 10;
-- name: c18
-- title: by the hour
SELECT user_id, event_hour, count(*) AS n FROM clicks GROUP BY user_id, event_hour ORDER BY n DESC, user_id, event_hour LIMIT 10;
-- name: c19
-- title: one user's rows
-- param user: 17 | 4711 | 12
SELECT count(*) AS n, sum(price) AS paid FROM clicks WHERE user_id = ${user};
-- name: c20
-- title: a piece of a text
SELECT count(*) FROM clicks WHERE url LIKE '%shop%';
-- name: c21
-- title: a piece of a text, by phrase
SELECT search_phrase, min(url) AS one_url, count(*) AS n FROM clicks WHERE url LIKE '%shop%' AND search_phrase <> '' GROUP BY search_phrase ORDER BY n DESC, search_phrase LIMIT 10;
-- name: c22
-- title: the first rows in time
SELECT event_time, row_id, search_phrase FROM clicks WHERE search_phrase <> '' ORDER BY event_time, row_id LIMIT 10;
-- name: c23
-- title: the first phrases
SELECT search_phrase, row_id FROM clicks WHERE search_phrase <> '' ORDER BY search_phrase, row_id LIMIT 10;
-- name: c24
-- title: mean length of a text by group
SELECT counter_id, avg(length(url)) AS mean_length, count(*) AS n FROM clicks WHERE url <> '' GROUP BY counter_id HAVING count(*) > 100 ORDER BY n DESC, counter_id LIMIT 25;
-- name: c25
-- title: many sums of one column
SELECT sum(width) AS s0, sum(width + 1) AS s1, sum(width + 2) AS s2, sum(width + 3) AS s3, sum(width + 4) AS s4, sum(width + 5) AS s5, sum(width + 6) AS s6, sum(width + 7) AS s7 FROM clicks;
-- name: c26
-- title: money by day, exactly
SELECT event_date, sum(price) AS paid, count(price) AS payers FROM clicks GROUP BY event_date ORDER BY event_date;
-- name: c27
-- title: some days of one site
-- param site: 3 | 14 | 62
SELECT url, count(*) AS views FROM clicks WHERE counter_id = ${site} AND event_date >= '2024-07-05' AND event_date <= '2024-07-20' AND is_refresh = 0 GROUP BY url ORDER BY views DESC, url LIMIT 10;
-- name: c28
-- title: far down the list
SELECT url, count(*) AS views FROM clicks WHERE counter_id = 3 GROUP BY url ORDER BY views DESC, url LIMIT 10 OFFSET 100;
-- name: c29
-- title: a case by group
SELECT region_id, sum(CASE WHEN is_refresh = 1 THEN 1 ELSE 0 END) AS refreshed, sum(CASE WHEN width > 1500 THEN duration ELSE 0 END) AS wide_time FROM clicks GROUP BY region_id;
-- name: c30
-- title: the busiest page of each region
SELECT region_id, url, n FROM (SELECT region_id, url, count(*) AS n, row_number() OVER (PARTITION BY region_id ORDER BY count(*) DESC, url) AS place FROM clicks GROUP BY region_id, url) AS ranked WHERE place = 1 ORDER BY region_id;
