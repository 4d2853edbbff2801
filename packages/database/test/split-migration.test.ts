import t from 'tap'
import { findMigrationFaults } from '../src/find-migration-faults.js'
import { splitMigration } from '../src/split-migration.js'

const written = `-- CreateEnum
CREATE TYPE "label_kind" AS ENUM ('own', 'given');

-- CreateTable
CREATE TABLE "labels" (
    "id" UUID NOT NULL,
    "kind" "label_kind" NOT NULL,

    CONSTRAINT "labels_pkey" PRIMARY KEY ("id")
);

-- AlterTable
ALTER TABLE "tasks" ADD COLUMN     "label_id" UUID;

-- CreateIndex
CREATE INDEX "tasks_workspace_id_assignee_id_idx" ON "tasks"("workspace_id", "assignee_id");

-- CreateIndex
CREATE UNIQUE INDEX "labels_kind_key" ON "labels"("kind");

-- DropIndex
DROP INDEX "tasks_rule_id_id_idx";

-- AddForeignKey
ALTER TABLE "labels" ADD CONSTRAINT "labels_id_fkey" FOREIGN KEY ("id") REFERENCES "tasks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
`

t.test('each part of a new migration follows the rules, and none is lost', async (t) => {
  const steps = splitMigration(written)
  for (const { suffix, sql } of steps) t.strictSame(await findMigrationFaults(sql), [], `${suffix}: ${sql}`)
  t.strictSame(
    steps.map(({ suffix }) => suffix),
    [
      '',
      '_alter_tasks',
      '_alter_labels',
      '_validate_labels_id_fkey',
      '_tasks_workspace_id_assignee_id_idx',
      '_labels_kind_key',
      '_tasks_rule_id_id_idx',
    ],
  )
  const count = (text: string) => text.match(/;$/gm)?.length
  const settings = steps.filter(({ sql }) => sql.startsWith('SET ')).length
  t.equal(count(steps.map(({ sql }) => sql).join('')), (count(written) ?? 0) + settings + 1)
})

t.test('a change of one index is one migration', async (t) => {
  t.strictSame(splitMigration('-- CreateIndex\nCREATE INDEX "i" ON "a"("b");\n'), [
    { suffix: '_i', sql: '-- CreateIndex\nCREATE INDEX CONCURRENTLY "i" ON "a"("b");\n' },
  ])
})
