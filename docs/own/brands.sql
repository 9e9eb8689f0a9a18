-- title: the ten brands that sold most before Christmas
SELECT i.i_brand AS brand, sum(s.ss_ext_sales_price) AS sales, count(*) AS lines
FROM store_sales s, date_dim d, item i
WHERE s.ss_sold_date_sk = d.d_date_sk AND s.ss_item_sk = i.i_item_sk AND d.d_moy = 12
GROUP BY i.i_brand ORDER BY sales DESC, brand LIMIT 10;
