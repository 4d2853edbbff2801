import type { Chapter } from './read-documents.js'

/** llms.txt: the list of pages for programs that read, with the address of each as Markdown. */
export function writeIndex(chapters: Chapter[]): string {
  const parts = chapters.map(({ title, documents }) => {
    const lines = documents.map(
      ({ address, title, summary }) => `- [${title}](/docs/${address || 'index'}.md): ${summary}`,
    )
    return `## ${title}\n\n${lines.join('\n')}`
  })
  return `${introduction}\n\n${parts.join('\n\n')}\n`
}

const introduction = `# Automation Rules

> A self-hosted service that gives an application automation rules: the application posts events, every active rule that matches runs its actions.

Every operation of the API: [openapi.json](/docs/openapi.json). Files of rules: [rules.schema.json](/docs/rules.schema.json).`
