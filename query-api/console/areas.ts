import type { UserRole } from '#domain/values.ts'
import type { SignedIn } from './page.ts'

/** A part of the console, and the roles that may see it: those of the list of the API that it shows. */
export type Area = {
  readonly title: string
  /** Below the organisation. */
  readonly path: string
  readonly roles: readonly UserRole[]
  /** The lists of an area that has several, the first at its own path. */
  readonly parts?: readonly Part[]
  /** The names that the API has for what waits there: the number beside it. */
  readonly work?: readonly string[]
}

/** Its own parts are pages that are reached from it. */
type Part = { readonly title: string; readonly path: string; readonly parts?: readonly Part[] }

const readers = ['auditor'] as const

/** Those for whom something may wait. */
export const workRoles = ['leads', 'underwriting', 'policies', 'claims', 'finance', 'owner'] as const

export const areas: readonly Area[] = [
  { title: 'Work', path: 'work', roles: [...workRoles, ...readers] },
  { title: 'Figures', path: 'figures', roles: [...workRoles, ...readers] },
  { title: 'Leads', path: 'leads', roles: ['leads', ...readers], work: ['open_leads'] },
  { title: 'Sent leads', path: 'ingests', roles: ['leads', ...readers], work: ['held_ingests', 'ingests_in_review'] },
  {
    title: 'Applications',
    path: 'applications',
    roles: ['leads', 'underwriting', 'policies', ...readers],
    work: ['referred_applications'],
  },
  { title: 'Policies', path: 'policies', roles: ['policies', 'claims', 'finance', ...readers] },
  {
    title: 'Claims',
    path: 'claims',
    roles: ['policies', 'claims', 'finance', ...readers],
    work: ['open_claims', 'approved_claims'],
  },
  {
    title: 'Premiums',
    path: 'premiums',
    roles: ['policies', 'claims', 'finance', ...readers],
    work: ['failed_premiums'],
  },
  {
    title: 'Approvals',
    path: 'approvals',
    roles: ['owner', 'policies', 'finance', ...readers],
    work: ['waiting_approvals'],
  },
  {
    title: 'Webhooks',
    path: 'deliveries',
    roles: ['owner', ...readers],
    work: ['failed_deliveries'],
    parts: [
      { title: 'Deliveries', path: 'deliveries' },
      { title: 'Sent again', path: 'delivery_recoveries' },
      { title: 'Connections', path: 'endpoint_connections' },
      { title: 'Integrations', path: 'integration_connections' },
      { title: 'Received and called', path: 'integration_logs' },
    ],
  },
  {
    title: 'Set-up',
    path: 'setup',
    roles: ['owner', ...readers],
    parts: [
      { title: 'All', path: 'setup' },
      { title: 'Products', path: 'products' },
      { title: 'Rate tables', path: 'rate_tables' },
      { title: 'Campaigns', path: 'campaigns' },
      { title: 'Workflows', path: 'workflows' },
      { title: 'Lifecycle actions', path: 'lifecycle_actions' },
      { title: 'Outreach streams', path: 'outreach_streams' },
      { title: 'Programmes', path: 'programmes' },
      { title: 'File', path: 'setup_file' },
    ],
  },
  {
    title: 'People',
    path: 'people',
    roles: ['owner', ...readers],
    parts: [
      { title: 'People', path: 'people' },
      { title: 'API applications', path: 'api_applications' },
    ],
  },
  { title: 'History', path: 'history', roles: readers },
]

/** Of whoever works for the whole installation, beside every organisation; paths are below `/console`. */
export const operations = {
  title: 'Operations',
  path: 'operations',
  roles: ['operator', ...readers],
  parts: [
    { title: 'Overview', path: 'operations', parts: [{ title: 'Consumers', path: 'consumers' }] },
    { title: 'Erasures', path: 'erasures' },
    { title: 'Checkpoints', path: 'checkpoints' },
  ],
} satisfies Area

/** True where a page, by its path below the organisation, is one of an area, or of a part of one. */
export const isWithin = ({ path, parts = [] }: Part, page: string): boolean =>
  page === path || page.startsWith(`${path}/`) || parts.some((part) => isWithin(part, page))

export const isOpenTo = ({ roles }: Pick<Area, 'roles'>, me: SignedIn): boolean =>
  me.roles.some((role) => roles.includes(role))
