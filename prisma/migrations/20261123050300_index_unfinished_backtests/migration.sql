CREATE INDEX CONCURRENTLY "backtests_unfinished" ON "backtests"("id") WHERE (status = ANY (ARRAY['waiting'::backtest_status, 'running'::backtest_status]));
