SET lock_timeout = '3s';

ALTER TABLE "rule_differences" ADD COLUMN "report" JSON;
