import { z } from 'zod'
import { isSameJson } from '#domain/canonical-json.ts'
import { DeliverySettings, noDeliverySettings } from '#domain/deliveries/record.ts'
import { deliverySettings } from '#domain/deliveries/settings.ts'
import { endpointConnectionIdOf } from '../integrations/ids.ts'
import type { LiveConnections } from '../integrations/live-connections.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { inOrderOf, type SetupContext, type SetupSection, type SetupStep, type Whole } from '../setup-file/section.ts'

/** Delivery settings of an endpoint connection, in a set-up file. Settings left out stay as they are. */
export const DeclaredDeliverySettings = z.strictObject({
  endpoint_connection: z.string().trim().min(1).max(200),
  ...DeliverySettings.partial().shape,
})
type Declared = z.output<typeof DeclaredDeliverySettings>

const Named = z.looseObject({ name: z.string() })

type Deps = { readonly writer: Writer; readonly connections: LiveConnections }

export const deliverySettingsSection = ({ writer, connections }: Deps): SetupSection<Declared> => {
  const { handle, preview, load } = commandHandler(writer, deliverySettings)

  const isKnown = async ({ organisation_id, declared }: SetupContext, name: string): Promise<boolean> => {
    if (declared('endpoint_connections').some((each) => Named.safeParse(each).data?.name === name)) return true
    const stream = `endpoint_connection-${endpointConnectionIdOf(organisation_id, name)}`
    return (await writer.log.read(stream, { limit: 1 })).length > 0
  }

  const planOne = async (
    { endpoint_connection, ...declared }: Declared,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const connection_id = endpointConnectionIdOf(organisation_id, endpoint_connection)
    const known = await load(connection_id)
    const settings = DeliverySettings.parse({ ...known, ...declared })
    const command = { type: 'ChangeDeliverySettings', organisation_id, connection_id, settings } as const
    const before = Object.entries(known)
    const changes = await preview(connection_id, command)
    return {
      what: `delivery settings of ${endpoint_connection}`,
      change: changes.length > 0 ? 'change' : 'none',
      details: before.flatMap(([key, value]) => {
        const wanted = settings[key as keyof typeof settings] // the keys of the same record
        return wanted === value ? [] : [`${key}: ${String(value)} → ${String(wanted)}`]
      }),
      apply: async () => {
        await handle(connection_id, command, context)
      },
    }
  }

  return {
    key: 'delivery_settings',
    schema: DeclaredDeliverySettings,
    plan: async (declared, setup) => {
      const steps: SetupStep[] = []
      for (const [index, each] of declared.entries()) {
        const name = each.endpoint_connection
        if (declared.findIndex((other) => other.endpoint_connection === name) !== index)
          setup.report([index, 'endpoint_connection'], 'is declared twice')
        else if (await isKnown(setup, name)) steps.push(await planOne(each, setup))
        else setup.report([index, 'endpoint_connection'], `there is no endpoint connection called ${name}`)
      }
      return steps
    },
    exported: async ({ organisation_id }) => {
      const written: Whole<Declared>[] = []
      for (const { id, name, organisation_id: owner } of connections.values()) {
        if (owner !== organisation_id) continue
        const settings = await load(id)
        if (!isSameJson(settings, noDeliverySettings)) written.push({ endpoint_connection: name, ...settings })
      }
      return inOrderOf(written, ({ endpoint_connection }) => endpoint_connection)
    },
  }
}
