import { newId } from '../ids.ts'
import type { RouteSpec } from '../http/route.ts'
import type { TeamAccess, TeamUser } from '../http/team.ts'

/** That somebody of a team was shown something: ids and words, never a value, and never what was looked for. */
export type Access = {
  readonly id: string
  /** That of the installation where it is of no organisation. */
  readonly organisation_id: string
  readonly actor_type: 'user' | 'operator'
  readonly actor_id: string
  readonly method: string
  readonly route: string
  readonly record_type: string
  readonly record_ids: readonly string[]
  readonly rows_shown: number
  readonly personal: 'opened' | 'masked' | null
  readonly filters: readonly string[]
  readonly request_id: string
}

export type RecordAccess = (access: Access) => Promise<void>

/** In place of an organisation's id, for what is of none. */
export const ofInstallation = '00000000-0000-0000-0000-000000000000'

/** True where each answer is recorded. Those of API applications are not: a firm knows what its own servers do. */
export const isRecorded = ({ access }: Pick<RouteSpec, 'access'>): boolean =>
  access.kind === 'team' && (access.showsPersonalData || isAboutAccesses(access))

const isAboutAccesses = ({ showsAccesses }: TeamAccess): boolean => showsAccesses === true

type Shown = {
  readonly spec: Pick<RouteSpec, 'method' | 'address'>
  readonly path: unknown
  readonly query: unknown
  readonly user?: TeamUser | undefined
  readonly operator?: string | undefined
  readonly request_id: string
  readonly body: unknown
  /** The body of a search: its names are those of filters. */
  readonly sought?: unknown
}

type Values = Readonly<Record<string, unknown>>

const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) ? (value as Values) : {}

const uuids = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/

/** An answer as it is recorded. */
export const accessOf = ({ spec, path, query, user, operator, request_id, body, sought }: Shown): Access => {
  const [inPath, asked, { data = body }] = [valuesOf(path), valuesOf(query), valuesOf(body)]
  const rows: readonly unknown[] = Array.isArray(data) ? data : [data]
  const organisations = [
    inPath['organisation_id'],
    asked['organisation_id'],
    user?.organisation_id,
    valuesOf(rows[0])['organisation_id'],
  ]
  const ids = new Set<string>()
  for (const [name, value] of Object.entries(inPath))
    if (name !== 'organisation_id' && typeof value === 'string' && uuid.test(value)) ids.add(value)
  // A record as of a moment is named by its address.
  if (typeof asked['address'] === 'string') addIds(asked['address'].toLowerCase().match(uuids) ?? [], ids)
  for (const row of rows) collectIds(row, ids, Array.isArray(data) ? deepest - 1 : 0)
  const { personal } = asked
  return {
    id: newId(),
    organisation_id: organisations.find((each) => typeof each === 'string') ?? ofInstallation,
    actor_type: user ? 'user' : 'operator',
    actor_id: user?.id ?? operator ?? '',
    method: spec.method.toUpperCase(),
    route: spec.address,
    record_type: typeof inPath['type'] === 'string' ? inPath['type'] : typeIn(spec.address),
    record_ids: [...ids],
    rows_shown: rows.length,
    personal: personal === 'opened' || personal === 'masked' ? personal : null,
    filters: Object.entries({ ...valuesOf(sought), ...asked }).flatMap(([name, value]) =>
      value === undefined || notFilters.has(name) ? [] : [name],
    ),
    request_id,
  }
}

const notFilters = new Set(['organisation_id', 'limit', 'cursor', 'personal'])

type SignIn = { readonly user: Pick<TeamUser, 'id' | 'organisation_id'>; readonly request_id: string } & Pick<
  Access,
  'method' | 'route'
>

/** A sign-in as it is recorded. It changes nothing of what the log holds. */
export const accessOfSignIn = ({ user, request_id, method, route }: SignIn): Access => ({
  id: newId(),
  organisation_id: user.organisation_id ?? ofInstallation,
  actor_type: 'user',
  actor_id: user.id,
  record_type: 'session',
  record_ids: [user.id],
  rows_shown: 1,
  personal: null,
  filters: [],
  request_id,
  method,
  route,
})

/** The records that an address is about, as it names them: `policies` of `/admin/v1/policies/:id/timeline`. */
const typeIn = (address: string): string => {
  const steps = address.split('/')
  const last = steps.findLastIndex((step) => step.startsWith(':') && step !== ':organisation_id')
  return (last === -1 ? steps.at(-1) : steps[last - 1]) ?? ''
}

/** The names under which answers tell of records and people. Products, rate tables and the like tell of nobody. */
const namesOfIds = new Set([
  'id',
  'application_id',
  'claim_id',
  'contact_id',
  'customer_id',
  'ingest_id',
  'lead_id',
  'membership_id',
  'outcome_id',
  'payment_id',
  'person_id',
  'person_ids',
  'policy_id',
  'premium_id',
  'subject_id',
  'quote_id',
  'user_id',
])

/** So deep an answer names what it is about; a row of a list with itself and its people alone, its parts being found by it. */
const deepest = 4

const collectIds = (value: unknown, ids: Set<string>, depth = 0): void => {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || depth > deepest) return
  if (Array.isArray(value)) {
    for (const each of value) collectIds(each, ids, depth + 1)
    return
  }
  for (const name in value) {
    const held = (value as Values)[name]
    if (typeof held === 'object') {
      if (name === 'person_ids' && Array.isArray(held)) addIds(held, ids)
      else collectIds(held, ids, depth + 1)
    } else if (namesOfIds.has(name)) addIds([held], ids)
  }
}

const addIds = (values: readonly unknown[], ids: Set<string>): void => {
  for (const value of values) if (typeof value === 'string' && uuid.test(value)) ids.add(value)
}
