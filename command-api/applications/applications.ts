import { application } from '#domain/applications/application.ts'
import {
  renderApplication,
  shownPresentation,
  type Application,
  type ApplicationRecord,
} from '#domain/applications/record.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import type { Release } from '#domain/catalogue/events.ts'
import type { Presentation } from '#domain/catalogue/record.ts'
import type { ApplicationId, OrganisationId, QuoteId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { accessTo, write, type Caller, type RequestFacts } from '#infra/http/route.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { cacheOfBytes } from '#infra/size.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import type { QuoteOwner } from './quote-owner.ts'
import { dateIn } from '#domain/time-zone.ts'
import { notFound } from '#domain/rejection.ts'

const presentationBytes = 32 * 2 ** 20

/** Callers that may change the application in the address. */
export const accessToApplication = accessTo('application', write)

/** Callers that may act on the quote in the address: a quote belongs to its application. */
export const accessToQuote = accessTo('quote', write)

type Organisation = { readonly stripe_test_mode: boolean; readonly time_zone: string }

/** The fixed fields of an application. */
export type Fixed = Pick<ApplicationRecord, 'id' | 'organisation_id' | 'product_id' | 'release_id' | 'journey_id'>

export type ApplicationsDeps = {
  readonly writer: Writer
  readonly keys: Pick<Keys, 'shareTokens'>
  readonly catalogue: Catalogue
  readonly quoteOwner: QuoteOwner
  readonly organisations: ReadonlyMap<string, Organisation>
}

/** Shared by all operations on applications: finding them, changing them, and showing them. */
export const makeApplications = ({ writer, keys, catalogue, quoteOwner, organisations }: ApplicationsDeps) => {
  const { handle, load, loadFrom } = commandHandler(writer, application)
  const presentations = cacheOfBytes<{ readonly shown: Presentation | null }>(presentationBytes)

  const organisationOf = (id: OrganisationId): Organisation => {
    const organisation = organisations.get(id)
    if (!organisation) throw new Error(`Organisation ${id} is not known here.`)
    return organisation
  }

  const timeZoneOf = (id: OrganisationId): string => organisationOf(id).time_zone

  /** The release that an application was started with. */
  const releaseOf = async ({ organisation_id, product_id, release_id }: Fixed): Promise<Release> => {
    const release = await catalogue.release(organisation_id, product_id, release_id)
    if (!release) throw new Error(`Release ${release_id} of product ${product_id} does not exist.`)
    return release
  }

  const presentationOf = async (record: ApplicationRecord): Promise<Presentation | null> => {
    const { organisation_id, release_id, presentation_id } = record
    if (presentation_id === null) return null
    const key = `${organisation_id} ${release_id} ${presentation_id}`
    const known = presentations.get(key)
    if (known) return known.shown
    const shown = shownPresentation(await releaseOf(record), record)
    presentations.set(key, { shown })
    return shown
  }

  return {
    handle,
    load,
    organisationOf,
    timeZoneOf,
    releaseOf,
    catalogue,

    contextOf: ({ organisation_id, api_application_id }: Caller, { request_id, now }: RequestFacts): Context => ({
      organisation_id,
      actor: { type: 'api', id: api_application_id },
      correlation_id: request_id,
      now,
    }),

    /** The date where the organisation is. */
    todayOf: ({ organisation_id }: Caller, { now }: RequestFacts): string => dateIn(timeZoneOf(organisation_id), now),

    /** The application of the caller's organisation; of another organisation it is as if there were none. */
    find: async (id: ApplicationId, caller: Caller): Promise<ApplicationState> => {
      const state = await load(id)
      if (state?.record.organisation_id !== caller.organisation_id) throw notFound('application')
      return state
    },

    /** The fixed fields of an application of the caller's organisation: once remembered, nothing is read. */
    findFixed: async (id: ApplicationId, caller: Caller): Promise<Fixed> => {
      const state = await loadFrom(id, 0)
      if (state?.record.organisation_id !== caller.organisation_id) throw notFound('application')
      return state.record
    },

    /** The application of a quote of the caller's organisation. */
    findByQuote: async (id: QuoteId, { organisation_id }: Caller): Promise<ApplicationState> => {
      const owner = await quoteOwner(organisation_id, id)
      const state = owner && (await load(owner.application_id))
      if (!state) throw notFound('quote')
      return state
    },

    /** The application as it is shown. A web page gets its share token once, with the answer to its start. */
    answer: async (
      { record }: ApplicationState,
      { kind }: Pick<Caller, 'kind'>,
      isFirst = false,
    ): Promise<Application> => ({
      ...renderApplication(record, await presentationOf(record)),
      ...((kind === 'server' || isFirst) && { share_token: shareTokenOf(keys, record.id) }),
    }),
  }
}
export type Applications = ReturnType<typeof makeApplications>
