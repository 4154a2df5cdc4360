import { z } from 'zod'
import {
  endpointConnection,
  type EndpointConnectionCommand,
  type EndpointConnectionState,
} from '#domain/integrations/endpoint-connection.ts'
import type { EndpointConnectionId } from '#domain/integrations/events.ts'
import { signingSecretBinding, type EndpointConnection } from '#domain/integrations/record.ts'
import { holdsSecret } from '#infra/crypto/seal.ts'
import { endpointConnectionIdOf } from './ids.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { givenSecret, missing, orMissing, reportMissing } from '../setup-file/missing-secret.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import type { LiveConnections } from './live-connections.ts'
import { chosenSecret, GivenSecret, sealSigningSecret, type SealingKeys } from './signing-secret.ts'

type Deps = {
  readonly writer: Writer
  readonly keys: SealingKeys
  /** True where the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
  readonly connections: LiveConnections
}

/** An endpoint connection of a set-up file. */
export const DeclaredEndpointConnection = z.strictObject({
  name: z.string().trim().min(1).max(200),
  base_url: z.string(),
  signing_secret: orMissing(GivenSecret.unwrap()).optional(),
})
export type DeclaredEndpointConnection = z.output<typeof DeclaredEndpointConnection>
/** With the secret that the file gives, if it does. */
type Given = Omit<DeclaredEndpointConnection, 'signing_secret'> & { readonly signing_secret: string | undefined }

/** The destinations of an organisation's webhooks. A declared secret that is not the one in force replaces it. */
export const endpointConnectionsSection = (deps: Deps): SetupSection<DeclaredEndpointConnection> => {
  const { writer, keys, allowsHttp, connections } = deps
  const { handle, load, preview } = commandHandler(writer, endpointConnection)

  const planOne = async (
    declared: DeclaredEndpointConnection,
    index: number,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const id = endpointConnectionIdOf(setup.organisation_id, declared.name)
    const existing = await load(id)
    if (reportMissing(setup, [index], declared, { signing_secret: existing !== undefined })) return undefined
    const given = { ...declared, signing_secret: givenSecret(declared.signing_secret) }
    return existing ? planChange(given, id, existing, setup) : planCreation(given, id, setup)
  }

  const planCreation = async (
    { name, base_url, signing_secret: given }: Given,
    endpoint_connection_id: EndpointConnectionId,
    { organisation_id, context, makeSecret }: SetupContext,
  ): Promise<SetupStep> => {
    const what = `endpoint connection ${name}`
    const make = () => makeSecret(what, 'signing_secret')
    const { secret: signing_secret, generated } = chosenSecret(given, make)
    const command: EndpointConnectionCommand = {
      type: 'CreateEndpointConnection',
      endpoint_connection_id,
      organisation_id,
      name,
      base_url,
      http_allowed: allowsHttp(base_url),
      sealed_secret: sealSigningSecret(keys, signing_secret, organisation_id, endpoint_connection_id),
    }
    await preview(endpoint_connection_id, command)
    return {
      what,
      change: 'create',
      details: [`base_url: ${base_url}`],
      apply: async () => {
        await handle(endpoint_connection_id, command, context)
      },
      ...(generated && { secrets: { signing_secret } }),
    }
  }

  const planChange = async (
    { name, base_url, signing_secret }: Given,
    id: EndpointConnectionId,
    { record, sealed_secret }: NonNullable<EndpointConnectionState>,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const commands: EndpointConnectionCommand[] = []
    const details: string[] = []
    const move = { type: 'MoveEndpointConnection', base_url, http_allowed: allowsHttp(base_url) } as const
    if ((await preview(id, move)).length > 0) {
      commands.push(move)
      details.push(`base_url: ${record.base_url} → ${base_url}`)
    }
    if (
      signing_secret &&
      !holdsSecret(keys, sealed_secret, signingSecretBinding(organisation_id, id), signing_secret)
    ) {
      const sealed = sealSigningSecret(keys, signing_secret, organisation_id, id)
      commands.push({ type: 'RegenerateEndpointSecret', sealed_secret: sealed, former_signs_until: null })
      details.push('signing_secret: replaced')
    }
    return {
      what: `endpoint connection ${name}`,
      change: commands.length > 0 ? 'change' : 'none',
      details,
      apply: async () => {
        for (const command of commands) await handle(id, command, context)
      },
    }
  }

  return {
    key: 'endpoint_connections',
    schema: DeclaredEndpointConnection,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ name }) => name === each.name)
        if (earlier !== index) {
          setup.report([index, 'name'], `is that of endpoint_connections[${earlier}]`)
          return undefined
        }
        // Of what is declared, the model refuses nothing but the address.
        return reportRefusal(setup, [index, 'base_url'], () => planOne(each, index, setup))
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) => {
      const own = [...connections.values()].filter((each) => each.organisation_id === organisation_id)
      return inOrderOf(own.map(writtenAs), ({ name }) => name)
    },
  }
}

const writtenAs = ({ name, base_url }: EndpointConnection): Whole<z.input<typeof DeclaredEndpointConnection>> => ({
  name,
  base_url,
  signing_secret: missing('endpoint_connections', name, 'signing_secret'),
})
