import { z } from 'zod'
import { providersOf, type SignInProvider } from '#domain/sign-in/record.ts'
import { keptWhereLeftOut } from '../setup-file/kept.ts'
import { OrganisationRole } from '#domain/values.ts'
import { givenSecret, missing, orMissing, isSameDestination, reportMissing } from '../setup-file/missing-secret.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { GivenProvider, makeProviders, providerIdOf, ProviderName, type ProviderDeps } from './providers.ts'

const DeclaredProvider = GivenProvider.organisation.extend({
  name: ProviderName,
  client_secret: orMissing(GivenProvider.organisation.shape.client_secret),
})
type DeclaredProvider = z.output<typeof DeclaredProvider>

/** The providers by which the people of an organisation sign in. */
export const signInProvidersSection = (deps: ProviderDeps): SetupSection<DeclaredProvider> => {
  const { handle, load, preview, commandFor, waits } = makeProviders(deps)

  const planOne = async (
    { name, ...declared }: DeclaredProvider,
    index: number,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const { organisation_id, context } = setup
    const id = providerIdOf(organisation_id, name)
    const existing = await load(id)
    const written = setup.declared('sign_in_providers')[index]
    const given = keptWhereLeftOut(declared, existing && { roles_claim: existing.roles_claim }, written)
    const isHeld = { client_secret: isSameDestination(existing, given, ['issuer', 'client_id']) }
    if (reportMissing(setup, [index], declared, isHeld)) return undefined
    const client_secret = givenSecret(given.client_secret)
    const command = await commandFor(organisation_id, name, { ...given, client_secret })
    const decided = await preview(id, command)
    const change = decided.length === 0 ? 'none' : existing ? 'change' : 'create'
    const rows = given.roles_of.map(({ value, roles }) => `${given.roles_claim} ${value}: ${roles.join(', ')}`)
    return {
      what: `sign-in provider ${name}`,
      change,
      details: change === 'none' ? [] : [`issuer: ${given.issuer}`, ...rows],
      waits: await waits(id, command, context),
      apply: async () => {
        await handle(id, command, context)
      },
    }
  }

  return {
    key: 'sign_in_providers',
    schema: DeclaredProvider,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        const earlier = declared.findIndex(({ name }) => name === each.name)
        if (earlier !== index) {
          setup.report([index, 'name'], `is that of sign_in_providers[${earlier}]`)
          return undefined
        }
        return reportRefusal(setup, [index, 'issuer'], () => planOne(each, index, setup))
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) =>
      inOrderOf(providersOf(deps.signInProviders, organisation_id).map(writtenAs), ({ name }) => name),
  }
}

const writtenAs = ({ name, issuer, client_id, roles_claim, roles_of }: SignInProvider): WrittenProvider => ({
  name,
  issuer,
  client_id,
  client_secret: missing('sign_in_providers', name, 'client_secret'),
  roles_claim,
  roles_of: roles_of.map(({ value, roles }) => ({ value, roles: OrganisationRoles.parse(roles) })),
})

/** Of a provider of an organisation, they are no others. */
const OrganisationRoles = z.array(OrganisationRole)

type WrittenProvider = Whole<z.input<typeof DeclaredProvider>>
