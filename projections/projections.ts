import { makeLeases } from '#infra/lease.ts'
import type { Parts, Role } from '#infra/parts.ts'
import { applications } from './applications/projection.ts'
import { products, releases } from './catalogue/projection.ts'
import { customers } from './customers/projection.ts'
import type { SomeProjection } from './projection.ts'
import { quotes } from './quotes/projection.ts'
import { runProjections } from './runner.ts'

/** Every read model that there is. */
export const allProjections: readonly SomeProjection[] = [products, releases, applications, customers, quotes]

export const startProjections = async (parts: Parts): Promise<Role> => {
  const running = await runProjections(allProjections, { ...parts, leases: makeLeases(parts.pool) })
  return {
    checks: async () =>
      running.map((projection) => {
        const { name, state, failure } = projection.status()
        return { name: `projection ${name}`, ok: state !== 'failed', detail: failure?.message ?? state }
      }),
    stop: async () => {
      await Promise.all(running.map(async ({ finished }) => finished))
    },
  }
}
