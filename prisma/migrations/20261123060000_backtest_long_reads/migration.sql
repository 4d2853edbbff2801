SET lock_timeout = '3s';

-- Backtests of before begin with none. A worker of the version before neither reads nor counts them.
ALTER TABLE "backtests" ADD COLUMN "long_reads" SMALLINT NOT NULL DEFAULT 0;
