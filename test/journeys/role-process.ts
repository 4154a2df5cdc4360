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
