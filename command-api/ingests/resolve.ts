import { timeZoneOf, type Organisation } from '#domain/access/record.ts'
import type { RuleFailure } from '#domain/ingests/events.ts'
import { fillsTrap, sentFields } from '#domain/ingests/fields.ts'
import type { IngestCommand, IngestState } from '#domain/ingests/ingest.ts'
import type { IngestRecord } from '#domain/ingests/record.ts'
import { unmetRules } from '#domain/ingests/rules.ts'
import { whoIsIt, type Who } from '#domain/ingests/same-person.ts'
import type { Facts, FactValue } from '#domain/leads/events.ts'
import { OwnError } from '#domain/own-error.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { withoutTarget, type Context } from '../writing/handle.ts'
import type { Requirements } from './requirements.ts'
import { dateIn } from '#domain/time-zone.ts'
import { makeLocks } from '../writing/locks.ts'
import { makeApply, type ApplyDeps } from './apply.ts'
import { keysOf, type Lookalikes } from './lookalikes.ts'
import { sentTooSoon } from './repeats.ts'
import type { ConsentGiven } from './people.ts'
import { readText } from './read-text.ts'
import { formatsOn, refusedDetails, tidyDetails, type Reader, type Tidied } from './tidy.ts'

export type ResolveDeps = ApplyDeps & {
  readonly lookalikes: Lookalikes
  readonly organisations: ReadonlyMap<string, Pick<Organisation, 'time_zone'>>
}

/** Our id is a person's of this organisation, or says nothing. */
const asPersonId = (text: string | null): CustomerId | undefined => CustomerId.safeParse(text).data

/**
 * Checks the rules and finds out who a lead is about; when that is known, what was declared becomes theirs. Answers what
 * is to be recorded of the ingest. Leads that may be about the same person wait for each other.
 */
export const makeResolve = (deps: ResolveDeps) => {
  const { people, leads, lookalikes, organisations } = deps
  const inTurn = makeLocks()
  const apply = makeApply(deps)

  /** Finds the person by our own id: as such, or sent as the id in the sender's system by somebody who keeps ours there. */
  const findById = async (
    organisation_id: OrganisationId,
    { contact_id, external_id }: Pick<Tidied, 'contact_id' | 'external_id'>,
  ): Promise<CustomerId | undefined> => {
    for (const text of [contact_id, external_id]) {
      const id = asPersonId(text)
      if (id && (await people.record(organisation_id, id)) && !(await people.isErased(id))) return id
    }
    return undefined
  }

  const externalIdsOf = async (organisation_id: OrganisationId, ids: readonly CustomerId[]) => {
    const held = async (id: CustomerId) =>
      [
        id,
        findableText((await leads.find(organisation_id, id))?.record.marks.external_system_id ?? '') || null,
      ] as const
    return new Map(await Promise.all([...new Set(ids)].map(held)))
  }

  /** Finds the person by the first of the spellings of an id in another system. */
  const findByTheirId = async (organisation_id: OrganisationId, ...spellings: readonly (string | null)[]) => {
    for (const value of spellings) {
      const id = value === null ? undefined : await people.find({ organisation_id, kind: 'external_id', value })
      if (id) return id
    }
    return undefined
  }

  const identify = async (organisation_id: OrganisationId, tidied: Tidied, { cause }: Context): Promise<Who> => {
    const { details, external_id, former_external_id } = tidied
    const { email = null } = details
    const recordOf = (id: CustomerId) => people.record(organisation_id, id)
    const [byId, byExternalId, byEmail] = await Promise.all([
      findById(organisation_id, tidied),
      findByTheirId(organisation_id, external_id, former_external_id),
      email === null ? undefined : people.find({ organisation_id, kind: 'email', value: email }),
    ])
    const strong = byId ?? byExternalId ?? byEmail
    const signal = cause?.signal ?? AbortSignal.abort()
    // The read model may still show somebody who was erased a moment ago.
    const personOf = async (id: CustomerId) => ((await people.isErased(id)) ? undefined : recordOf(id))
    const lookalike =
      strong === undefined ? await lookalikes.find(organisation_id, details, signal, personOf) : { phone: [], name: [] }
    const found =
      strong === undefined ? [...lookalike.phone, ...lookalike.name].map((each) => each.contact_id) : [strong]
    const heldIds = external_id === null ? undefined : await externalIdsOf(organisation_id, found)
    return whoIsIt({
      contact_id: byId,
      external_id: byExternalId,
      email: byEmail,
      ...lookalike,
      sent: { email, external_id, isAnybody: isAnybody(tidied) },
      heldExternalId: (id) => heldIds?.get(id) ?? null,
    })
  }

  /** Makes what was sent the person's own, where it is nobody's yet. */
  const claim = async (
    { record, picked }: IngestState,
    known: CustomerId | undefined,
    { details, external_id }: Tidied,
    context: Context,
  ) => {
    const { organisation_id } = record
    // Claims are safe to repeat, and belong to no one stream.
    const own = withoutTarget(context)
    let contact_id = known ?? newPersonId(record)
    const contested: 'email'[] = []
    const { email } = details
    const held = known === undefined ? undefined : await people.record(organisation_id, known)
    if (typeof email === 'string' && (held?.email ?? null) === null) {
      const owner = await people.claim({ organisation_id, kind: 'email', value: email }, contact_id, own)
      // Another process was faster, and made the person. Whom the team calls somebody new is not that one.
      if (owner !== contact_id && known === undefined && picked === undefined) contact_id = owner
      else if (owner !== contact_id) contested.push('email')
    }
    // Ours is nobody's but the person's own, and another system's ids still tell people apart.
    const isTheirs = external_id !== null && !(await findById(organisation_id, { contact_id: null, external_id }))
    const holder = isTheirs
      ? await people.claim({ organisation_id, kind: 'external_id', value: external_id }, contact_id, own)
      : undefined
    // Whom the team picked does not get the id of somebody else.
    return { contact_id, contested, external_id: holder === contact_id ? external_id : null }
  }

  return async (state: IngestState, requirements: Requirements, context: Context): Promise<IngestCommand> => {
    const { campaign, intake } = requirements
    const { record, content, picked } = state
    const { organisation_id } = record
    if (record.campaign && !campaign) throw new OwnError(`There is no campaign ${record.campaign.key}.`)
    const time_zone = timeZoneOf(organisations, organisation_id)
    const reader = { today: dateIn(time_zone, context.now), time_zone }
    const { today } = reader
    const fieldNames = campaign?.field_names ?? {}
    const fields = sentFields(content, fieldNames)
    const ofFields = tidyDetails(fields, reader)
    const { refused } = ofFields
    // What a person of the team has judged is not judged again, whatever is blocked or demanded since.
    const isJudged = record.accepted || picked !== undefined
    const rules = isJudged ? [] : [...(campaign?.rules ?? []), ...intake.rules]
    if (!isJudged) {
      if (intake.blocked_sources.includes(record.source))
        return { type: 'DiscardSpam', reason: 'blocked_source', note: null }
      if (fillsTrap(content, intake.trap_fields)) return { type: 'DiscardSpam', reason: 'trap_field', note: null }
      const facts = { fields, refused, consent: content.consent, fieldNames, formats: formatsOn(reader), today }
      const failures = distinct(unmetRules(rules, facts))
      if (failures.length > 0) return { type: 'HoldIngest', failures }
    }

    const tidied = withText(ofFields, content.text, reader)
    const unusable = refusedDetails(fields, refused)
    const told = unusable.length > 0 ? { refused: [...unusable] } : {}
    const keys = lockKeys(organisation_id, tidied)
    return inTurn(keys, async (): Promise<IngestCommand> => {
      const who: Who =
        picked === undefined
          ? await identify(organisation_id, tidied, context)
          : picked === null
            ? { known: undefined }
            : { known: picked, matched_by: 'person' }
      if ('review' in who) return { type: 'ReviewIngest', reason: who.review, candidates: [...who.candidates], ...told }
      if (who.known !== undefined && rules.some(({ rule }) => rule === 'no_duplicate')) {
        const lead = await leads.find(organisation_id, who.known)
        const failures = sentTooSoon(record, lead?.sendings ?? [], requirements, context.now)
        if (failures.length > 0) return { type: 'HoldIngest', failures: [...failures] }
      }

      const { contact_id, contested, external_id } = await claim(state, who.known, tidied, context)
      const { is_new_lead, ...written } = await apply(
        state,
        {
          contact_id,
          details: tidied.details,
          contested,
          facts: { ...tidied.facts, ...declaredFacts(content.declared) },
          consent: consentOf(state),
          arrives: { external_id },
          words: null,
        },
        context,
      )
      lookalikes.remember(organisation_id, tidied.details, contact_id)
      // Tried again, it finds the person whom it has made.
      const isNew = who.known === undefined || who.known === newPersonId(record)
      const matched_by = isNew ? 'nothing' : who.matched_by
      return { type: 'ResolveIngest', contact_id, matched_by, is_new_lead, ...written, ...told }
    })
  }
}

/** The same each time that an ingest is tried, and random for whoever does not know the ingest. */
const newPersonId = ({ organisation_id, id }: IngestRecord): CustomerId =>
  CustomerId.parse(derivedId('person', organisation_id, id))

const distinct = (failures: readonly RuleFailure[]): RuleFailure[] => [
  ...new Map(failures.map((failure) => [JSON.stringify(failure), failure])).values(),
]

/** The person's own text may say who it is, where nothing else does. */
const withText = (tidied: Tidied, text: string | null, reader: Reader): Tidied => {
  const { email, phone_number } = tidied.details
  if (text === null || email || phone_number || tidied.external_id || tidied.contact_id) return tidied
  const read = readText(text, reader).details
  return { ...tidied, details: { ...read, ...tidied.details } }
}

const isAnybody = ({
  details: { email, phone_number, first_name, last_name },
  external_id,
  contact_id,
}: Tidied): boolean => [email, phone_number, first_name, last_name, external_id, contact_id].some(Boolean)

const lockKeys = (organisation_id: OrganisationId, { details, external_id, contact_id }: Tidied): readonly string[] => {
  const { phone, name } = keysOf(organisation_id, details)
  const others = [
    ['email', details.email],
    ['external_id', external_id],
    ['contact_id', contact_id],
  ].flatMap(([kind, value]) => (value ? [JSON.stringify([organisation_id, kind, value])] : []))
  return [...phone, ...name, ...others]
}

/** Stored exactly as given; what is empty says nothing. */
const declaredFacts = (declared: IngestState['content']['declared']): Facts =>
  Object.fromEntries(
    Object.entries(declared ?? {}).flatMap(([key, value]): (readonly [string, FactValue])[] => {
      if (value === null) return []
      return [[key, Array.isArray(value) ? value.filter((each) => each !== null) : value]]
    }),
  )

const consentOf = ({ record, content: { consent } }: IngestState): ConsentGiven | null => {
  if (!consent) return null
  const entries = Object.entries(consent.purposes).flatMap(([purpose, channels]) =>
    Object.entries(channels).map(([channel, agreed]) => ({
      purpose: purpose as keyof typeof consent.purposes, // the keys that its shape allows
      channel: channel as keyof typeof channels,
      state: agreed ? ('granted' as const) : ('refused' as const),
      basis: 'consent' as const,
    })),
  )
  const { received_at } = record
  const told_at = consent.recorded_at ?? record.happened_at ?? received_at
  // A sender's clock that is ahead would outlast what the person says next.
  const said_at = told_at < received_at ? told_at : received_at
  const { method, wording } = consent
  return { entries, method, wording, said_at, source: { type: 'ingest', id: record.id } }
}
