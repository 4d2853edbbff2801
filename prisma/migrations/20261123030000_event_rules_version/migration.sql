SET lock_timeout = '3s';

-- Null for what is there, so no row is rewritten: which versions of the rules were considered for these events is not known.
ALTER TABLE "events" ADD COLUMN "rules_version" INTEGER;
