import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from './service-process.ts'

/** Has the webhooks of the demo that keeps its data there go to a port of its own, so that two journeys can be played at once. */
export const withOwnReceiver = async (dataDir: string): Promise<void> => {
  await mkdir(dataDir, { recursive: true })
  await writeFile(join(dataDir, 'stand-ins.json'), JSON.stringify({ receiver: await freePort() }))
}
