-- title: one item's history, by year
-- param item: 17 | 4711
SELECT d.d_year AS year, count(*) AS lines, min(s.ss_sales_price) AS lowest, max(s.ss_sales_price) AS highest
FROM store_sales s, date_dim d
WHERE s.ss_sold_date_sk = d.d_date_sk AND s.ss_item_sk = ${item}
GROUP BY d.d_year ORDER BY year;
