import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isCode, standInAddress, startOn } from '../../stand-ins/demo.ts'
import { demoBrowserApplication } from '../demo.ts'
import { startSalesPage, type SalesPage, type SalesPageOptions } from './server.ts'

/** The origin that `demo/organisation.yaml` allows, and the port there. */
export const declaredOrigin = 'http://localhost:5173'
const declaredPort = 5173

/** Starts the page where it was the last time: the demo organisation allows its origin. */
export const startDemoSalesPage = async (
  dataDir: string,
  service: Pick<SalesPageOptions, 'origin' | 'baseUrl'>,
): Promise<SalesPage> => {
  const file = join(dataDir, 'sales-page.json')
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  })
  const known = text === undefined ? declaredPort : z.object({ port: z.int() }).parse(JSON.parse(text)).port
  const client = await demoBrowserApplication()
  const provider = await standInAddress('stripe', dataDir)
  const page = await startOn(known, (port) => startSalesPage({ port, client, provider, ...service }))
  await writeFile(file, JSON.stringify({ port: Number(new URL(page.url).port) }))
  return page
}
