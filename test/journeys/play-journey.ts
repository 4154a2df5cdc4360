import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const root = join(import.meta.dirname, '..', '..')

/** Plays `npm run demo` against a service whose data are in that directory. What it shows is the error when a step fails. */
export const playJourney = async (origin: string, dataDir: string, operatorKey?: string): Promise<void> => {
  const key = operatorKey === undefined ? {} : { OPERATOR_KEY: operatorKey }
  const env = { ...process.env, BASE_URL: origin, DATA_DIR: dataDir, ...key }
  const journey = spawn(process.execPath, ['demo/journey.ts'], { cwd: root, env })
  const [out, error] = await Promise.all([text(journey.stdout), text(journey.stderr), once(journey, 'close')])
  if (!out.includes('Every step is green')) throw new Error(`The journey was not played to its end:\n${out}${error}`)
}
