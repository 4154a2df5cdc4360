import { join } from 'node:path'
import type { Figure } from './figure.ts'
import { freePort } from './service.ts'
import type { Environment } from './environment.ts'

/** From `npm start` to a service that is ready, on a PostgreSQL of its own: with nothing there yet, and again. */
export const measureStart = async (environment: Environment): Promise<readonly Figure[]> => {
  const port = String(await freePort())
  const variables = { PORT: port, DATA_DIR: join(environment.directory, 'start') }

  const start = async (name: string, target: Figure['target']): Promise<Figure> => {
    const startedAt = performance.now()
    const child = environment.run('npm', ['start'], variables)
    await child.says(/is ready at/)
    const seconds = (performance.now() - startedAt) / 1_000
    await child.stop()
    return { name, unit: 's', value: seconds, ...(target && { target }) }
  }

  return [
    await start('npm start to ready, first time', { below: 10 }),
    await start('npm start to ready, again', { below: 10 }),
  ]
}
