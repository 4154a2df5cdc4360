import { z } from 'zod'
import { freePort, startServiceProcess } from './service-process.ts'

export const secrets = {
  MASTER_KEY: Buffer.alloc(32, 'a master key for tests ').toString('base64'),
  OPERATOR_KEY: 'an operator key for tests',
}

/** One role as a process of its own, with its details on the health port. */
export const startRole = async (
  environment: Readonly<Record<string, string>>,
  program = 'query-api/main.ts',
  words: readonly string[] = [],
) => {
  const [port, healthPort] = [await freePort(), await freePort()]
  const service = startServiceProcess({
    dataDir: '.data',
    port,
    environment: { ...secrets, HEALTH_PORT: String(healthPort), ...environment },
    program,
    words,
    saysWhenReady: 'role ready',
  })
  const get = async (address: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const response = await fetch(`http://127.0.0.1:${address}`)
    return { status: response.status, body: await response.json() }
  }
  return {
    ...service,
    port,
    healthPort,
    details: () => get(`${healthPort}/health/ready`),
    published: (path: string) => get(`${port}${path}`),
    [Symbol.asyncDispose]: () => service.kill('process'),
  }
}

export type RoleProcess = Awaited<ReturnType<typeof startRole>>

const Details = z.object({ checks: z.array(z.object({ name: z.string(), detail: z.string().optional() })) })

export const checksOf = async (role: RoleProcess) => {
  const { status, body } = await role.details()
  return { status, checks: Details.parse(body).checks }
}

/** The states of what only one process does at a time, as far as this one does not do it: none, once it does all. */
export const waitingIn = async (role: RoleProcess): Promise<readonly string[]> => {
  const { status, checks } = await checksOf(role)
  if (status !== 200) return ['not ready']
  return [...new Set(checks.flatMap(({ detail = '' }) => /^(starting|standing by)/.exec(detail)?.[0] ?? []))]
}
