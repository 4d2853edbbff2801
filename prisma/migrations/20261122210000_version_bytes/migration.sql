SET lock_timeout = '3s';

-- Versions that are stored count nothing: they go by their age, as before.
ALTER TABLE "rule_versions" ADD COLUMN "bytes" INTEGER NOT NULL DEFAULT 0;
