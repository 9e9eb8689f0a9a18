-- q3
SELECT d.d_year AS d_year, i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price
FROM star.date_dim d, star.store_sales s, star.item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manufact_id = 128 AND d.d_moy = 11
GROUP BY d.d_year, i.i_brand, i.i_brand_id
ORDER BY d_year NULLS FIRST, ext_price DESC NULLS LAST, brand_id NULLS FIRST
LIMIT 100;

-- q52
SELECT d.d_year AS d_year, i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price
FROM star.date_dim d, star.store_sales s, star.item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000
GROUP BY d.d_year, i.i_brand, i.i_brand_id
ORDER BY d_year NULLS FIRST, ext_price DESC NULLS LAST, brand_id NULLS FIRST
LIMIT 100;

-- q55
SELECT i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price
FROM star.date_dim d, star.store_sales s, star.item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999
GROUP BY i.i_brand, i.i_brand_id
ORDER BY ext_price DESC NULLS LAST, brand_id NULLS FIRST
LIMIT 100;

-- scan
SELECT SUM(ss_ext_sales_price) AS ext_price FROM star.store_sales;

-- q3
SELECT d.d_year AS d_year, i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price
FROM star.date_dim d, star.store_sales s, star.item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manufact_id = 128 AND d.d_moy = 11
GROUP BY d.d_year, i.i_brand, i.i_brand_id
ORDER BY d_year, ext_price DESC, brand_id
LIMIT 100;

-- q52
SELECT d.d_year AS d_year, i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price
FROM star.date_dim d, star.store_sales s, star.item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000
GROUP BY d.d_year, i.i_brand, i.i_brand_id
ORDER BY d_year, ext_price DESC, brand_id
LIMIT 100;

-- q55
SELECT i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price
FROM star.date_dim d, star.store_sales s, star.item i
WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999
GROUP BY i.i_brand, i.i_brand_id
ORDER BY ext_price DESC, brand_id
LIMIT 100;

