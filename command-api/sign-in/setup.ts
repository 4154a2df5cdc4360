import type { z } from 'zod'
import { keptWhereLeftOut } from '../setup-file/kept.ts'
import { reportRefusal, type SetupContext, type SetupSection, type SetupStep } from '../setup-file/section.ts'
import { GivenProvider, makeProviders, providerIdOf, ProviderName, type ProviderDeps } from './providers.ts'

const DeclaredProvider = GivenProvider.organisation.extend({ name: ProviderName })
type DeclaredProvider = z.output<typeof DeclaredProvider>

/** The providers by which the people of an organisation sign in. */
export const signInProvidersSection = (deps: ProviderDeps): SetupSection<DeclaredProvider> => {
  const { handle, load, preview, commandFor } = makeProviders(deps)

  const planOne = async (
    { name, ...declared }: DeclaredProvider,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const id = providerIdOf(organisation_id, name)
    const existing = await load(id)
    const given = keptWhereLeftOut(declared, existing && { roles_claim: existing.roles_claim }, written)
    const command = await commandFor(organisation_id, name, given)
    const decided = await preview(id, command)
    const change = decided.length === 0 ? 'none' : existing ? 'change' : 'create'
    const rows = given.roles_of.map(({ value, roles }) => `${given.roles_claim} ${value}: ${roles.join(', ')}`)
    return {
      what: `sign-in provider ${name}`,
      change,
      details: change === 'none' ? [] : [`issuer: ${given.issuer}`, ...rows],
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
        return reportRefusal(setup, [index, 'issuer'], () =>
          planOne(each, setup.declared('sign_in_providers')[index], setup),
        )
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
  }
}
