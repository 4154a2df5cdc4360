import { z } from 'zod'
import { CustomerDetails } from '#domain/customers/events.ts'
import { IngestRecord, IngestStatus, NamedPerson } from '#domain/ingests/record.ts'
import { act, choicesOf, type Act } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import { Refused } from '../read.ts'
import { pastForm } from '../moments.ts'
import {
  badge,
  empty,
  facts,
  link,
  moment,
  section,
  shortId,
  table,
  text,
  words,
  type Tone,
  nameOf,
  saidDay,
} from '../show.ts'
import { h, type View } from '../view.ts'

const TeamIngest = IngestRecord.extend({ explanation: z.string(), person: NamedPerson.nullable() })
type TeamIngest = z.infer<typeof TeamIngest>

const tones: Readonly<Record<string, Tone>> = {
  held: 'wait',
  needs_review: 'wait',
  deferred: 'wait',
  applied: 'good',
  failed: 'bad',
}

/** Whom it names; where it names nobody, which it is. */
const namedIn = ({ person, source, id }: TeamIngest): string =>
  person?.name ?? person?.email ?? person?.phone_number ?? `${words(source)} ${shortId(id)}`

export const ingests: List<typeof TeamIngest> = {
  title: 'Sent leads',
  path: 'ingests',
  api: 'ingests',
  item: TeamIngest,
  filters: [{ name: 'status', label: 'Status', choices: choicesOf(IngestStatus.options) }],
  none: 'Nothing was sent yet. Leads are sent by POST /api/v1/crm/ingests, or from a file.',
  work: { held_ingests: 'held', ingests_in_review: 'needs_review' },
  columns: (organisation_id) => [
    {
      title: 'Person',
      show: (ingest) => link(pageOf(organisation_id, `ingests/${ingest.id}`), namedIn(ingest)),
    },
    { title: 'Email or telephone', show: ({ person }) => text(person?.email ?? person?.phone_number) },
    { title: 'Sent by', show: ({ source }) => words(source) },
    { title: 'Status', show: ({ status }) => badge(status, tones[status]) },
    { title: 'What became of it', show: ({ explanation }) => explanation },
    { title: 'Received', show: ({ received_at }) => moment(received_at) },
  ],
}

const actsOf = (ingest: TeamIngest, address: string): readonly Act[] => {
  const discard: Act = {
    title: 'Discard',
    method: 'POST',
    address: `${address}/discard`,
    fields: [{ name: 'note', label: 'Note for the team', kind: 'lines' }],
    tone: 'danger',
    ask: 'Nothing is taken from it. That it was sent stays in the history.',
  }
  switch (ingest.status) {
    case 'held':
      return [
        {
          title: 'Take it in',
          method: 'POST',
          address: `${address}/accept`,
          ask: 'It becomes a lead although it does not meet the rules.',
        },
        discard,
      ]
    case 'needs_review':
    case 'failed':
      return [discard]
    case 'received':
    case 'resolving':
    case 'extracting':
    case 'applied':
    case 'deferred':
    case 'discarded':
      return []
  }
}

const Known = z.object({ data: z.object({ person: CustomerDetails.nullable() }) })

type Candidate = { readonly contact_id: string; readonly name: string }

/** Those whom a lead may be about, by what tells them apart. */
const readCandidates = async (
  { organisation, now }: Pick<Asked, 'organisation' | 'now'>,
  ids: readonly string[],
): Promise<readonly Candidate[]> =>
  Promise.all(
    ids.map(async (contact_id) => {
      const found = await now(apiOf(organisation?.id ?? '', `leads/${contact_id}`), Known).catch((error: unknown) => {
        if (error instanceof Refused && error.status === 404) return undefined
        throw error
      })
      const person = found?.data.person
      const told = [nameOf(person), person?.dob && `born ${saidDay(person.dob)}`, person?.email, person?.phone_number]
      return { contact_id, name: told.filter(Boolean).join(', ') || `person ${shortId(contact_id)}` }
    }),
  )

type Choosing = { readonly organisation_id: string; readonly address: string; readonly mayAct: boolean }

const whoItMayBe = (candidates: readonly Candidate[], { organisation_id, address, mayAct }: Choosing): View => {
  if (candidates.length === 0) return null
  const pick = { method: 'POST', address: `${address}/pick_person` } as const
  return section(
    'Who it may be',
    candidates.map(({ contact_id, name }) => [
      h('p', {}, link(pageOf(organisation_id, `leads/${contact_id}`), name)),
      mayAct &&
        act({
          ...pick,
          title: `It is ${name}`,
          of: contact_id,
          sends: { contact_id },
          ask: 'What was sent is added to this person.',
        }),
    ]),
    mayAct &&
      act({
        ...pick,
        title: 'It is somebody else',
        sends: { contact_id: null },
        ask: 'A new person is made of what was sent.',
      }),
  )
}

/** One lead as it was sent, with what became of it and why, and what can be done. */
export const ingestPage: Page = {
  address: '/console/organisations/:organisation_id/ingests/:ingest_id',
  show: async (asked) => {
    const { me, organisation, path, read, past } = asked
    const organisation_id = organisation?.id ?? ''
    const ingest_id = path['ingest_id'] ?? ''
    const address = apiOf(organisation_id, `ingests/${ingest_id}`)
    const [{ data: ingest }, moments] = await Promise.all([
      read(address, z.object({ data: TeamIngest })),
      pastForm(asked, `ingest-${ingest_id}`),
    ])
    const acts = me.roles.includes('leads') && !past ? actsOf(ingest, address) : []
    const candidates = await readCandidates(asked, ingest.review?.candidates ?? [])
    return {
      title: namedIn(ingest),
      about: `sent by ${words(ingest.source)}`,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          moments,
          facts([
            ['Status', badge(ingest.status, tones[ingest.status])],
            ['What became of it', ingest.explanation],
            ['Name', text(ingest.person?.name)],
            ['Email', text(ingest.person?.email)],
            ['Telephone', text(ingest.person?.phone_number)],
            ['Sent by', words(ingest.source)],
            ['Received', moment(ingest.received_at)],
            [
              'Lead',
              ingest.contact_id === null
                ? text(null)
                : link(pageOf(organisation_id, `leads/${ingest.contact_id}`), 'Open it'),
            ],
            ['Campaign', text(ingest.campaign?.key)],
          ]),
          ingest.failures.length > 0 &&
            section(
              'Rules that it does not meet',
              table(
                'Rules',
                [
                  { title: 'Field', show: ({ field }) => words(field) },
                  { title: 'Rule', show: ({ rule }) => text(rule) },
                  { title: 'Because', show: ({ reason }) => text(reason) },
                ],
                ingest.failures,
              ),
            ),
          whoItMayBe(candidates, { organisation_id, address, mayAct: acts.length > 0 }),
        ),
        acts.length > 0
          ? h('div', {}, section('What next', acts.map(act)))
          : h('div', {}, empty('There is nothing to decide.')),
      ),
    }
  },
}
