import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { categoryOf, event, idOf, isPersonal, partsOf, personal } from '#domain/event.ts'
import { erasedData } from '#infra/crypto/erased.ts'
import { samples } from './samples.ts'
import { allEvents, eventFiles } from './shapes.ts'

type Schema = z.core.$ZodType

/**
 * Fields that could hold anything and are not personal, each with the reason. An entry covers everything below it. Whatever
 * tells of a person, or can be chosen freely by somebody who is not the organisation's operator, does not belong here.
 */
const notPersonal: Readonly<Record<string, string>> = {
  'ApplicationStarted.asked_for.product_slug': 'is a slug of the catalogue: any other is refused',
  'ApplicationStarted.asked_for.journey_slug': 'is a slug of the catalogue: any other is refused',
  'AnswersSaved.removed': 'keys of questions of the release',
  'PartnerAnswersSaved.removed': 'keys of questions of the release',
  'InterstitialChosen.stage_key': 'the key of a stage of the release',
  'InterstitialChosen.choice_key': 'the key of a choice of the release',
  'PartnerSaved.joint': 'a rule of the release',
  'QuoteIssued.journey_loading': 'a multiplier of the release',
  'QuoteIssued.rate_tables': 'keys of published rate tables',
  'PolicyReviewPriced.rate_tables': 'keys of published rate tables',
  'PolicyDocumentIssued.kind': 'ours, or the kind of a document of the release',
  'PolicyDocumentIssued.key_document': 'a document of the release, which is published',
  'OrganisationRegistered.slug': 'names a firm, and is set by the operator',
  'OrganisationRegistered.name': 'names a firm, and is set by the operator',
  'OrganisationRegistered.time_zone': 'an IANA name',
  'OrganisationChanged.name': 'names a firm, and is set by the operator',
  'OrganisationChanged.time_zone': 'an IANA name',
  'PolicyRulesDeclared.rules.contact': 'says how a firm is reached, and is set by the operator',
  'ApiApplicationCreated.name': 'names a program, and is set by the operator',
  'ApiApplicationCreated.allowed_origins': 'web origins',
  'ApiApplicationCreated.secret_hash': 'the hash of a random secret',
  'ApiApplicationChanged.name': 'names a program, and is set by the operator',
  'ApiApplicationChanged.allowed_origins': 'web origins',
  'ApiApplicationSecretRotated.secret_hash': 'the hash of a random secret',
  'RecordErasureGivenUp.because': 'one of our sentences',
  'PersonErasureGivenUp.because': 'one of our sentences',
  'DeliveryFailed.reason': 'a status, or a fault of the network',
  'EndpointConnectionCreated.name': 'names a server, and is set by the operator',
  'EndpointConnectionCreated.base_url': 'the address of a server',
  'EndpointConnectionCreated.sealed_secret': 'encrypted already',
  'EndpointConnectionMoved.base_url': 'the address of a server',
  'EndpointSecretRegenerated.sealed_secret': 'encrypted already',
  'EndpointConnectionRemoved.name': 'names a server, and is set by the operator',
  'PaymentRefundAsked.idempotency_key': 'made by us of ids and amounts',
  'MarketSearchAccepted.search_id': 'made by the panel from our own id',
  'MarketResultsReceived.results[].provider_id': 'names an insurer',
  'MarketResultsReceived.results[].provider_name': 'names an insurer',
  'MarketResultsReceived.results[].logo_url': 'an insurer’s picture',
  'ProviderAccountSet.base_url': 'the address of a server',
  'ProviderAccountSet.account': 'names an account of the firm, and is set by the operator',
  'SignInProviderSet.name': 'names a server, and is set by an owner',
  'SignInProviderSet.issuer': 'the address of a server',
  'SignInProviderSet.client_id': 'names this service at the provider, and is set by an owner',
  'SignInProviderSet.sealed_secret': 'encrypted already',
  'SignInProviderSet.roles_claim': 'names a claim, and is set by an owner',
  'SignInProviderSet.roles_of[].value': 'names a group of the firm, and is set by an owner',
  'UserInvited.invitation_digest': 'the hash of a random token',
  'UserLinked.issuer': 'the address of a server',
  'ProviderAccountSet.sealed_secret': 'encrypted already',
  'LifecycleActionCreated.name': 'names an action, and is set by the operator',
  'LifecycleActionRemoved.name': 'names an action, and is set by the operator',
  'WorkflowCreated.name': 'names a workflow, and is set by the operator',
  'CampaignCreated.name': 'names a campaign, and is set by the operator',
  'CampaignCreated.rules': 'rules for leads, set by the operator',
  'CampaignCreated.field_names': 'names of form fields, set by the operator',
  'CampaignChanged.name': 'names a campaign, and is set by the operator',
  'CampaignChanged.rules': 'rules for leads, set by the operator',
  'CampaignChanged.field_names': 'names of form fields, set by the operator',
  'ProgrammeCreated.name': 'names a loyalty programme, and is set by the operator',
  'ProgrammeCreated.tiers[].name': 'names a tier, and is set by the operator',
  'ProgrammeChanged.name': 'names a loyalty programme, and is set by the operator',
  'ProgrammeChanged.tiers[].name': 'names a tier, and is set by the operator',
  'MembershipEnrolled.policy_number': 'a number of ours, which says nothing about the person',
  'LeadIntakeSet.rules': 'rules for leads, set by the operator',
  'InstallationBegun.check_value': 'a constant word, sealed',
  'LeadIntakeSet.blocked_sources': 'names of programs, set by the operator',
  'LeadIntakeSet.trap_fields': 'names of form fields, set by the operator',
  'OperatorKeyMade.name': 'names a key, and is set by the operator, so that it says for ever who acted',
  'OperatorKeyMade.made_by': 'names a key',
  'PersonErasureRequested.requested_by': 'names a key of the operator',
  'OperatorKeyMade.key_digest': 'a digest of random bytes',
  'UserKeyMade.key_digest': 'the hash of a random key',
  'OperatorKeyEnded.name': 'names a key',
  'ProductDrafted.draft': 'a product of the catalogue, which is published',
  'ReleasePublished.release': 'a product of the catalogue, which is published',
  'OutcomeModelDeclared.model': 'types, measures and products of outcomes, set by the operator',
  'PipelineDeclared.pipeline.stages[].label': 'names a stage of work, and is set by the operator',
  'PipelineDeclared.pipeline.custom_fields[].label': 'names a field, and is set by the operator',
  'PipelineDeclared.pipeline.custom_fields[].options': 'what can be chosen, and is set by the operator',
  'PipelineDeclared.pipeline.score_rules[].equals': 'a value that scores, set by the operator',
  'OutreachStreamCreated.choices': 'what a stream is for and says to everybody, set by the operator',
  'OutreachStreamChanged.choices': 'what a stream is for and says to everybody, set by the operator',
  'NewsletterIssueReleased.texts': 'what an issue says to everybody, set by the operator',
  'OutreachSendsPermitted.permits[].messages': 'a number of messages',
  'OutreachDraftsReserved.most.model': 'the name of a language model, set by the operator',
  'OutreachDraftsReserved.most.usd_rate': 'a rate of exchange',
  'OutreachDraftCharged.model': 'the name of a language model, set by the operator',
  'OutreachDraftCharged.usd_rate': 'a rate of exchange',
  'ExchangeRateRecorded.usd_rate': 'a rate of exchange',
  'OutreachMessageSent.reference': 'made by the channel from our own id',
  'PaymentAccountSet.base_url': 'the address of a server',
  'PaymentAccountSet.sealed_secret_key': 'encrypted already',
  'PaymentAccountSet.sealed_webhook_secret': 'encrypted already',
  'ProviderAccountSet.sealed_webhook_secret': 'encrypted already',
  'PolicyBound.time_zone': 'an IANA name',
  'CustomIntegrationCreated.name': 'names an integration, and is set by the operator',
  'CustomIntegrationCreated.inbound': 'where in an event things are, set by the operator',
  'CustomIntegrationCreated.outbound': 'how an API is called, set by the operator',
  'CustomIntegrationChanged.inbound': 'where in an event things are, set by the operator',
  'CustomIntegrationChanged.outbound': 'how an API is called, set by the operator',
  'IntegrationConnectionCreated.name': 'names a connection, and is set by the operator',
  'IntegrationSecretSet.name': 'names a secret, and is set by the operator',
  'IntegrationSecretSet.sealed_secret': 'encrypted already',
  'IntegrationConnectionRevoked.name': 'names a connection, and is set by the operator',
  'InboundEventAccepted.event_type': 'one of the types that the operator has listed',
  'PolicyUpdated.update_type': 'one of the types that the operator has listed',
  'ProposalMade.title': 'made by us of the names of the catalogue, ids and amounts',
  'ProposalMade.stream': 'a type of ours and an id',
  'ProposalMade.command': 'ids, amounts, and what is published or encrypted already; its reason is kept apart',
  'ProposalMade.changes': 'ids, amounts, and what is published; secrets are left out',
  'ProposalMade.proposed_by.id': 'an id, or names a key of the operator',
  'ProposalMade.key_made_by[].id': 'an id, or names a key of the operator',
  'UserChanged.made_by[].id': 'an id, or names a key of the operator',
  'UserKeyMade.made_by[].id': 'an id, or names a key of the operator',
  'UserInvited.made_by[].id': 'an id, or names a key of the operator',
  'UserLinked.email_verified': 'is true or false',
  'ProposalApproved.stream': 'a type of ours and an id',
  'ProposalRejected.rejected_by.id': 'an id, or names a key of the operator',
  'ProposalWithdrawn.withdrawn_by.id': 'an id, or names a key of the operator',
  'ProposalVoided.because': 'a sentence of ours',
  'RateTablePublished.table': 'a rate table of the catalogue',
}

const isFixed = (schema: Schema): boolean =>
  schema instanceof z.ZodEnum ||
  schema instanceof z.ZodLiteral ||
  schema instanceof z.ZodUUID ||
  schema instanceof z.ZodISODateTime

const tellsOfAPerson =
  /e-?mail|phone|mobile|(^|_)(dob|birth|gender|sex|smoker|title|name|address|postal|postcode|city|answers?|notes?|reasons?|messages?|texts?|comments?|health|income|salary|nationality|token)(_|$|\d)|(first|last|full|maiden)_?name/i

const isRegex = ({ _zod }: z.core.$ZodCheck<never>) => 'format' in _zod.def && _zod.def.format === 'regex'

/** Text that no pattern narrows down, addresses and telephone numbers, and what may hold anything. */
const isFreeText = (schema: Schema): boolean =>
  (schema instanceof z.ZodString && !schema._zod.def.checks?.some(isRegex)) ||
  [z.ZodEmail, z.ZodE164, z.ZodURL, z.ZodUnknown, z.ZodAny].some((free) => schema instanceof free)

/** The paths of the leaves of a shape that may hold personal data and have no mark. */
const unmarked = (path: string, schema: Schema): readonly string[] => {
  if (isPersonal(schema) || Object.hasOwn(notPersonal, path)) return []
  const parts = partsOf(schema)
  if (parts.length > 0) return parts.flatMap(([name, part]) => unmarked(joined(path, name), part))
  const fields = path.match(/\w+/g)?.slice(1) ?? []
  return isFreeText(schema) || (!isFixed(schema) && fields.some((name) => tellsOfAPerson.test(name))) ? [path] : []
}

const joined = (path: string, name: string) => (name === '' || /^[[{]/.test(name) ? path + name : `${path}.${name}`)

const unmarkedFields = (events: Iterable<readonly [string, { readonly schema: Schema }]>) =>
  [...new Set([...events].flatMap(([type, { schema }]) => unmarked(type, schema)))].toSorted()

describe('the events of the domain', () => {
  test('are found by this test', () => {
    expect(eventFiles).toEqual(expect.arrayContaining(['domain/applications/events.ts', 'domain/customers/events.ts']))
    expect(allEvents.size).toBeGreaterThan(30)
  })

  test('mark every field that may hold personal data, or say above why it cannot', () => {
    expect(unmarkedFields(allEvents)).toEqual([])
  })

  test('have no reason above for a field that is gone', () => {
    const paths = new Set([...allEvents].flatMap(([type, { schema }]) => pathsOf(type, schema)))
    expect(Object.keys(notPersonal).filter((path) => !paths.has(path))).toEqual([])
  })

  test('mark no id but those of covers: handlers route by ids, and after an erasure all would be the same', () => {
    const marked = (path: string, schema: Schema): readonly string[] =>
      isPersonal(schema)
        ? idsIn(path, schema)
        : partsOf(schema).flatMap(([name, part]) => marked(joined(path, name), part))
    const idsIn = (path: string, schema: Schema): readonly string[] => [
      ...(schema instanceof z.ZodUUID ? [path] : []),
      ...partsOf(schema).flatMap(([name, part]) => idsIn(joined(path, name), part)),
    ]
    const paths = [...allEvents].flatMap(([type, { schema }]) => marked(type, schema))
    expect(paths.filter((path) => !path.endsWith('.cover_id'))).toEqual([])
  })

  test('can be read when the subject was erased: each has empty values that fit its schema', () => {
    for (const shape of allEvents.values()) expect(() => erasedData(shape)).not.toThrow()
  })

  // Erasing a person destroys this key: what was under another one would stay readable.
  const about = samples.filter(({ event }) => (allEvents.get(event.type)?.personal.length ?? 0) > 0)
  test.each(about)('$name is encrypted under the key of whom it is about', ({ event, readsAs }) => {
    const { customer_id, contact_id } = readsAs
    const [category, id] = [categoryOf(event.stream), idOf(event.stream)]
    const named = ['message_news', 'complaint'].includes(category) ? contact_id : customer_id

    const subject = allEvents.get(event.type)?.subject(readsAs, id)

    expect(subject).toBe(peoplesStreams.has(category) ? id : (named ?? null))
  })
})

/** Streams whose id is that of a person. Other streams have a key of their own, for what names no person yet. */
const peoplesStreams = new Set(['customer', 'lead', 'legal_hold', 'outcomes', 'outreach_person'])

const pathsOf = (path: string, schema: Schema): readonly string[] => [
  path,
  ...partsOf(schema).flatMap(([name, part]) => pathsOf(joined(path, name), part)),
]

describe('a mark', () => {
  const marked = personal(z.string())

  test('is on the fields that are or contain a marked part, whatever is around it', () => {
    const { personal: fields } = event({
      plain: z.string(),
      itself: marked,
      nullable: marked.nullable(),
      optional: marked.optional(),
      with_default: marked.default(''),
      longer: marked.min(3).describe('a name'),
      whole: personal(z.object({ a: z.string() })),
      some: personal(z.object({ a: z.string() })).partial(),
      picked: personal(z.object({ a: z.string(), b: z.string() })).pick({ a: true }),
      some_of_marked: z.object({ a: marked, b: z.int() }).partial().nullable(),
      more: z.object({ a: marked }).extend({ b: z.int() }),
      list: z.array(z.object({ a: marked })),
      by_key: z.record(z.string(), marked),
      in_keys: z.record(marked, z.boolean()),
      one_of: z.union([z.int(), z.array(marked)]),
      by_kind: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a'), a: marked })]),
    })
    expect(fields).toEqual([
      'itself',
      'nullable',
      'optional',
      'with_default',
      'longer',
      'whole',
      'some',
      'picked',
      'some_of_marked',
      'more',
      'list',
      'by_key',
      'in_keys',
      'one_of',
      'by_kind',
    ])
  })

  test('leaves the schema that it was made of as it was', () => {
    const Name = z.string()
    personal(Name)
    expect(event({ name: Name }).personal).toEqual([])
  })

  test('cannot be hidden in a schema that nobody looks into', () => {
    expect(() => event({ hidden: marked.transform((text) => text.length) })).toThrow('plain JSON')
  })
})

describe('a field without a mark is found', () => {
  const foundIn = (shape: z.ZodRawShape) => unmarkedFields([['It', event(shape)]])

  test('by its name', () => {
    expect(foundIn({ date_of_birth: z.iso.date(), email: z.email(), answers: z.array(z.boolean()) })).toEqual([
      'It.answers[]',
      'It.date_of_birth',
      'It.email',
    ])
  })

  test('because it holds free text', () => {
    expect(foundIn({ a: z.string(), b: z.string().min(1).nullable(), c: z.unknown(), d: z.array(z.string()) })).toEqual(
      ['It.a', 'It.b', 'It.c', 'It.d[]'],
    )
    expect(foundIn({ by: z.record(z.string(), z.int()) })).toEqual(['It.by{key}'])
    expect(foundIn({ contact: z.email(), page: z.url(), call: z.e164() })).toEqual(['It.call', 'It.contact', 'It.page'])
  })

  test('and ids, enums, numbers, times and patterns are not', () => {
    const shape = { a: z.uuid(), b: z.enum(['x']), c: z.int(), d: z.iso.datetime(), e: z.string().regex(/^[a-z]$/) }
    expect(foundIn({ ...shape, f: z.iso.date(), reason: z.enum(['inactive', 'withdrawn']) })).toEqual([])
  })
})
