import {
  customIntegration,
  type CustomIntegrationCommand,
  type Settings,
} from '#domain/custom-integrations/custom-integration.ts'
import type { z } from 'zod'
import type { CustomIntegrationId, Inbound } from '#domain/custom-integrations/events.ts'
import type { CustomIntegration, Integrations, SealedConnection } from '#domain/custom-integrations/record.ts'
import { integrationConnection } from '#domain/custom-integrations/integration-connection.ts'
import type { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { isMissing, missing, reportMissing } from '../setup-file/missing-secret.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { eachKeptWhereLeftOut, keptWhereLeftOut, writtenAt } from '../setup-file/kept.ts'
import { namesIn } from '../setup-file/names.ts'
import { DeclaredIntegration, settingsOf } from './declared.ts'
import { customIntegrationIdOf, integrationConnectionIdOf } from './ids.ts'
import { outboundFaults } from './outbound-faults.ts'
import {
  chosenSecrets,
  refuseShortSigningSecret,
  sealSecrets,
  secretsToSet,
  type Given,
  type SealingKeys,
} from './secrets.ts'

type Deps = {
  readonly writer: Writer
  readonly keys: SealingKeys
  /** True where the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
  readonly integrations: Readonly<Integrations>
  /** The outcome types and measures of an organisation. */
  readonly outcomesOf: (organisation_id: OrganisationId) => Promise<{ readonly types: Keyed; readonly measures: Keyed }>
}
type Keyed = readonly { readonly key: string }[]

type DeclaredConnection = DeclaredIntegration['connections'][number]

/** Systems that post to us, and those that we call. A connection that the file does not name stays as it is. */
export const customIntegrationsSection = ({
  writer,
  keys,
  allowsHttp,
  outcomesOf,
  integrations: known,
}: Deps): SetupSection<DeclaredIntegration> => {
  const integrations = commandHandler(writer, customIntegration)
  const connections = commandHandler(writer, integrationConnection)

  /** An outcome of a type, or a value of a measure, that the firm does not have would be held each time. */
  const reportUnknownOutcomes = async (
    { inbound }: DeclaredIntegration,
    index: number,
    { organisation_id, declared, report }: SetupContext,
  ): Promise<void> => {
    const { type, values } = inbound?.outcome_mapping ?? {}
    const model = await outcomesOf(organisation_id)
    const keysIn = (section: string, known: Keyed) => {
      const inFile = namesIn(declared(section), 'key')
      return inFile.length > 0 ? inFile : known.map(({ key }) => key)
    }
    const path = [index, 'inbound', 'outcome_mapping']
    const types = keysIn('outcome_types', model.types)
    if (type && !types.includes(type)) report([...path, 'type'], `there is no outcome type ${type}`)
    const measures = keysIn('outcome_measures', model.measures)
    for (const key of Object.keys(values ?? {}))
      if (!measures.includes(key)) report([...path, 'values', key], `there is no measure ${key}`)
  }

  const planIntegration = async (
    declared: DeclaredIntegration,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const { name } = declared
    const id = customIntegrationIdOf(organisation_id, name)
    const existing = await integrations.load(id)
    const settings = keptSettings(settingsOf(declared), existing, written)
    const faults = outboundFaults(settings.outbound, allowsHttp)
    const command: CustomIntegrationCommand = existing
      ? { type: 'ChangeCustomIntegration', faults, ...settings }
      : { type: 'CreateCustomIntegration', custom_integration_id: id, organisation_id, name, faults, ...settings }
    const events = await integrations.preview(id, command)
    const details = settings.inbound
      ? describeInbound(settings.inbound)
      : [`outbound: ${settings.outbound?.base_url ?? ''}`]
    return {
      what: `custom integration ${name}`,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details: events.length === 0 ? [] : details,
      apply: async () => {
        await integrations.handle(id, command, context)
      },
    }
  }

  const planConnection = async (
    { name, secrets: declared }: DeclaredConnection,
    integration: DeclaredIntegration,
    path: readonly PropertyKey[],
    custom_integration_id: CustomIntegrationId,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const { organisation_id, context, makeSecret } = setup
    const what = `connection ${name} of ${integration.name}`
    const id = integrationConnectionIdOf(organisation_id, custom_integration_id, name)
    const existing = await connections.load(id)
    const isHeld = Object.fromEntries(Object.keys(existing?.sealed_secrets ?? {}).map((each) => [each, true] as const))
    if (reportMissing(setup, [...path, 'secrets'], declared, isHeld)) return undefined
    const given = givenOf(declared)
    const wanted = existing ? secretsToSet(keys, given, existing) : given
    refuseShortSigningSecret(wanted, integration)
    const { secrets, generated } = chosenSecrets(wanted, (secret) => makeSecret(what, secret))
    const sealed_secrets = sealSecrets(keys, secrets, organisation_id, id)
    const command = existing
      ? ({ type: 'SetIntegrationSecrets', sealed_secrets } as const)
      : ({
          type: 'CreateIntegrationConnection',
          integration_connection_id: id,
          custom_integration_id,
          organisation_id,
          name,
          sealed_secrets,
        } as const)
    const events = await connections.preview(id, command)
    return {
      what,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details: [
        ...Object.keys(wanted).map((each) => `${each}: set`),
        ...secretsNamedBy(integration)
          .filter((each) => !(each in declared) && existing?.sealed_secrets[each] === undefined)
          .map((each) => `${each}: named by the integration, and missing: nothing gets through until it is set`),
      ],
      apply: async () => {
        await connections.handle(id, command, context)
      },
      ...(Object.keys(generated).length > 0 && { secrets: generated }),
    }
  }

  return {
    key: 'custom_integrations',
    schema: DeclaredIntegration,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ name }) => name === each.name)
        if (earlier !== index) {
          setup.report([index, 'name'], `is that of custom_integrations[${earlier}]`)
          return []
        }
        await reportUnknownOutcomes(each, index, setup)
        const own = await reportRefusal(setup, [index], () =>
          planIntegration(each, setup.declared('custom_integrations')[index], setup),
        )
        const id = customIntegrationIdOf(setup.organisation_id, each.name)
        const ofConnections = each.connections.map(async (connection, place) => {
          const before = each.connections.findIndex(({ name }) => name === connection.name)
          if (before !== place) setup.report([index, 'connections', place, 'name'], `is that of connections[${before}]`)
          const path = [index, 'connections', place]
          return reportRefusal(setup, path, () => planConnection(connection, each, path, id, setup))
        })
        return [own, ...(await Promise.all(ofConnections))]
      })
      return (await Promise.all(plans)).flat().filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => {
      const own = [...known.integrations.values()].filter((each) => each.organisation_id === organisation_id)
      return inOrderOf(own, ({ name }) => name)?.map((each) => writtenAs(each, known.connections))
    },
  }
}

/** A connection that was revoked is over: its name says nothing to another installation. */
const writtenAs = (
  { id, name, inbound, outbound }: CustomIntegration,
  connections: Integrations['connections'],
): Whole<z.input<typeof DeclaredIntegration>> => {
  const own = [...connections.values()].filter((each) => each.custom_integration_id === id && each.revoked_at === null)
  return {
    name,
    inbound: inbound ?? undefined,
    outbound: outbound ?? undefined,
    connections: (inOrderOf(own, (each) => each.name) ?? []).map((each) => ({
      name: each.name,
      secrets: namedSecrets(name, each),
    })),
  }
}

const namedSecrets = (integration: string, { name, sealed_secrets }: SealedConnection) =>
  Object.fromEntries(
    Object.keys(sealed_secrets)
      .toSorted()
      .map((secret) => [secret, missing('custom_integrations', integration, name, secret)] as const),
  )

/** The secrets that a file gives, without those that it only names. */
const givenOf = (declared: DeclaredConnection['secrets']): Given =>
  Object.fromEntries(
    Object.entries(declared).flatMap(([name, secret]) => (isMissing(secret) ? [] : [[name, secret] as const])),
  )

/** Settings of an integration that the file leaves out stay as they are. */
const keptSettings = ({ inbound, outbound }: Settings, existing: Settings | undefined, written: unknown): Settings => {
  if (inbound) return { inbound: keptWhereLeftOut(inbound, existing?.inbound, writtenAt(written, 'inbound')), outbound }
  if (!outbound) return existing ?? { inbound, outbound }
  const writtenOutbound = writtenAt(written, 'outbound')
  const endpoints = eachKeptWhereLeftOut(
    outbound.endpoints,
    existing?.outbound?.endpoints,
    writtenAt(writtenOutbound, 'endpoints'),
    ({ key }) => key,
  )
  return { inbound, outbound: keptWhereLeftOut({ ...outbound, endpoints }, existing?.outbound, writtenOutbound) }
}

const describeInbound = (inbound: Inbound): readonly string[] => {
  const types = [...inbound.outcome_event_types, ...inbound.update_event_types]
  return [
    `inbound: ${types.length === 0 ? 'no event_types, so nothing is recorded' : types.join(', ')}`,
    ...(inbound.signing_secret === null ? ['no signing_secret: every delivery is refused'] : []),
  ]
}

/** The secrets that an integration needs of each of its connections. */
const secretsNamedBy = ({ inbound, outbound }: DeclaredIntegration): readonly string[] =>
  [inbound?.signing_secret, outbound?.credential?.secret].filter((name) => typeof name === 'string')
