SET lock_timeout = '3s';

-- Rows of before have the moment of the migration as their range, until they are removed. Their subjects keep the true one.
ALTER TABLE "backtests" ADD COLUMN "range_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN "range_to" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN "delays" SMALLINT NOT NULL DEFAULT 0;
