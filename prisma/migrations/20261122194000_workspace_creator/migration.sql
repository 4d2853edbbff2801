SET lock_timeout = '3s';

-- Null for what is there, so no row is rewritten. A workspace that an older API creates has none either: no limit of a creator applies to it.
ALTER TABLE "workspaces" ADD COLUMN "created_by" TEXT;
