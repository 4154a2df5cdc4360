import { renderPdf, type PdfBlock } from '#infra/pdf/render.ts'
import type { ExportPage } from './page.ts'

type About = { readonly person_id: string; readonly firm: string; readonly now: string }

type Fact = readonly [label: string, value: string]

const inWords = (name: string): string => name.replaceAll('_', ' ')

/** All that a value holds, each part by its place, without what is empty. */
const factsOf = (value: unknown, label = ''): readonly Fact[] => {
  if (value === null || value === undefined || value === '') return []
  if (typeof value !== 'object') return [[label, typeof value === 'string' ? value : JSON.stringify(value)]]
  const parts = Array.isArray(value)
    ? value.map((part, index) => [String(index + 1), part] as const)
    : Object.entries(value).map(([name, part]) => [inWords(name), part] as const)
  return parts.flatMap(([name, part]) => factsOf(part, label === '' ? name : `${label}, ${name}`))
}

const facts = (value: unknown): readonly PdfBlock[] => {
  const found = factsOf(value)
  return found.length > 0 ? [{ kind: 'facts', facts: found }] : []
}

const day = (instant: string): string => `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`

/** All that is held on a person, to be read: the records as they are, and then what happened to each. */
export const pdfOfExport = async ({ data, records }: ExportPage, { person_id, firm, now }: About): Promise<Buffer> =>
  renderPdf({
    title: 'What is held on you',
    author: firm,
    created_at: now,
    blocks: [
      { kind: 'paragraph', text: `Person ${person_id}, as of ${day(now)}` },
      ...records.flatMap(({ record, state }): readonly PdfBlock[] => [
        { kind: 'heading', text: `${inWords(record.type)} ${record.id}` },
        ...facts(state),
      ]),
      { kind: 'heading', text: 'What happened' },
      ...data.flatMap(({ record, sentence, occurred_at, data: told }): readonly PdfBlock[] => [
        { kind: 'paragraph', text: `${day(occurred_at)}, ${inWords(record.type)}: ${sentence}` },
        ...facts(told),
      ]),
    ],
  })
