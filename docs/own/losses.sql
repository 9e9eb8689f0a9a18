-- title: how much of each category is sold at a loss
SELECT i.i_category AS category, count(*) AS lines, sum(CASE WHEN s.ss_net_profit < 0 THEN 1 ELSE 0 END) AS at_a_loss, sum(s.ss_net_profit) AS profit
FROM store_sales s, item i
WHERE s.ss_item_sk = i.i_item_sk
GROUP BY i.i_category ORDER BY category NULLS LAST;
