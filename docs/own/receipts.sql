-- title: the largest receipts, of all
SELECT ss_ticket_number AS receipt, sum(ss_net_paid) AS paid, count(*) AS lines
FROM store_sales
GROUP BY ss_ticket_number ORDER BY paid DESC, receipt LIMIT 20;
