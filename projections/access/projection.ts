import { organisationEvents } from '#domain/access/events.ts'
import { idOf } from '#domain/event.ts'
import type { Projection } from '../projection.ts'

type Row = { readonly organisation_id: string; readonly currency_code: string }

const { OrganisationRegistered, OrganisationChanged } = organisationEvents
const events = { OrganisationRegistered, OrganisationChanged }

/** The currency of each organisation, needed to show what belongs to it. */
export const organisations: Projection<typeof events, Row, 'organisation_id'> = {
  name: 'organisations',
  version: 1,
  awaited: 'never',
  categories: ['organisation'],
  events,
  table: { columns: { organisation_id: 'uuid', currency_code: 'text' }, key: ['organisation_id'] },
  keys: (_event, { stream }) => [{ organisation_id: idOf(stream) }],
  project: (_row, { currency_code }, _recorded, key) => ({ ...key, currency_code }),
}
