SET lock_timeout = '3s';

-- A constant default: no row is rewritten. The version before does not know the column, and leaves shadows alone since they are inactive.
ALTER TABLE "rules" ADD COLUMN "mode" TEXT NOT NULL DEFAULT 'live';
