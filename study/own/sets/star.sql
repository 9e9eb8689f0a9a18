-- The queries 3, 52 and 55 of TPC-DS with the parameter values of its qualification. Their ORDER BY
-- has additional columns, so that no rows tie.
-- name: q3
-- title: a manufacturer's brands in November, by year
SELECT d.d_year, i.i_brand_id AS brand_id, i.i_brand AS brand, sum(s.ss_ext_sales_price) AS ext_price
FROM date_dim d, store_sales s, item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manufact_id = 128 AND d.d_moy = 11
GROUP BY d.d_year, i.i_brand, i.i_brand_id ORDER BY d_year, ext_price DESC, brand_id, brand LIMIT 100;
-- name: q52
-- title: a manager's brands in November 2000
SELECT d.d_year, i.i_brand_id AS brand_id, i.i_brand AS brand, sum(s.ss_ext_sales_price) AS ext_price
FROM date_dim d, store_sales s, item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000
GROUP BY d.d_year, i.i_brand, i.i_brand_id ORDER BY d_year, ext_price DESC, brand_id, brand LIMIT 100;
-- name: q55
-- title: a manager's brands in November 1999
SELECT i.i_brand_id AS brand_id, i.i_brand AS brand, sum(s.ss_ext_sales_price) AS ext_price
FROM date_dim d, store_sales s, item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999
GROUP BY i.i_brand, i.i_brand_id ORDER BY ext_price DESC, brand_id, brand LIMIT 100;
