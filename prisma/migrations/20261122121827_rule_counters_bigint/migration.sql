-- At 2^31 a count would be refused, and with it every event that the rule matches.
--
-- This rewrites the table, under a lock that keeps everybody out. New columns would not, but the version before would not count in
-- them, and a trigger that does would cost each execution. The table has one narrow row a rule: 100,000 rules take half a second.
-- The version before goes on over the new type. Where a backup holds the table for longer than the timeout, migrate again later.
SET lock_timeout = '3s';

-- AlterTable
ALTER TABLE "rule_counters" ALTER COLUMN "success_count" SET DATA TYPE BIGINT,
ALTER COLUMN "failure_count" SET DATA TYPE BIGINT,
ALTER COLUMN "consecutive_failures" SET DATA TYPE BIGINT;
