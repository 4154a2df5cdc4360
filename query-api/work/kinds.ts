import type { UserRole } from '#domain/values.ts'

/** Records that wait for somebody of the team: some of a read model, in the order of their list. */
export type Kind = {
  readonly roles: readonly UserRole[]
  /** The streams whose events change how many wait. */
  readonly category: string
  readonly table: 'applications' | 'claims' | 'delivery' | 'ingests' | 'lead_records' | 'premiums' | 'proposals'
  readonly id: 'id' | 'contact_id'
  /** An index of the table begins with the organisation and this, and ends with the order. */
  readonly where: string
  /** In its place the condition of the index, where that holds others as well: a bounded number of them is looked through. */
  readonly among?: string
  readonly order: string
}

const leads = { roles: ['leads'], category: 'lead', table: 'lead_records', id: 'contact_id' } as const
const ingests = { roles: ['leads'], category: 'ingest', table: 'ingests', id: 'id', order: 'received_at desc' } as const
const claims = { roles: ['claims'], category: 'policy', table: 'claims', id: 'id', order: 'opened_at desc' } as const

/** All that waits for the people of a firm, by the name that it has in the API. */
export const kinds = {
  due_leads: { ...leads, where: 'due is not null', order: 'due collate "C"' },
  open_leads: { ...leads, where: `status = 'open'`, order: '"position" collate "C" desc' },
  held_ingests: { ...ingests, where: `status = 'held'` },
  ingests_in_review: { ...ingests, where: `status = 'needs_review'` },
  referred_applications: {
    roles: ['underwriting'],
    category: 'application',
    table: 'applications',
    id: 'id',
    where: `status = 'referred'`,
    order: 'updated_at desc',
  },
  open_claims: { ...claims, where: `status = 'open'` },
  approved_claims: { ...claims, where: `status = 'approved'` },
  failed_premiums: {
    roles: ['finance'],
    category: 'policy',
    table: 'premiums',
    id: 'id',
    where: `status = 'failed'`,
    order: 'created_at desc',
  },
  failed_deliveries: {
    roles: ['owner'],
    category: 'delivery_news',
    table: 'delivery',
    id: 'id',
    among: 'unsent_at is not null',
    where: `state = 'failed'`,
    order: 'recorded_at desc, id desc',
  },
  waiting_approvals: {
    roles: ['owner', 'policies', 'finance'],
    category: 'proposal',
    table: 'proposals',
    id: 'id',
    where: `status = 'waiting'`,
    order: 'proposed_at desc',
  },
} as const satisfies Readonly<Record<string, Kind>>

export type WorkKind = keyof typeof kinds

export const workKinds = Object.keys(kinds) as [WorkKind, ...WorkKind[]] // as written above

export const categories: ReadonlySet<string> = new Set(workKinds.map((kind) => kinds[kind].category))

/** The kinds of work of these roles; undefined: a program's key, which is for all of them. */
export const kindsFor = (roles: readonly UserRole[] | undefined): readonly WorkKind[] =>
  workKinds.filter((kind) => {
    const may: readonly UserRole[] = kinds[kind].roles
    return roles === undefined || roles.some((role) => may.includes(role))
  })
