SET lock_timeout = '3s';

-- Null for what is there: workers note the rules of each workspace (packages/rules/src/rule-states.ts).
ALTER TABLE "workspaces" ADD COLUMN "noted_version" INTEGER;
