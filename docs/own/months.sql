-- title: sales of a year, month by month
-- param year: 1999 | 2001
SELECT d.d_moy AS month, count(*) AS lines, sum(s.ss_ext_sales_price) AS sales, avg(s.ss_quantity) AS quantity
FROM store_sales s, date_dim d
WHERE s.ss_sold_date_sk = d.d_date_sk AND d.d_year = ${year}
GROUP BY d.d_moy ORDER BY month;
