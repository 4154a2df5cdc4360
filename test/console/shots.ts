import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Firm } from './firm.ts'

const roles: Readonly<Record<keyof Firm['people'], string>> = {
  aud: 'auditor',
  cleo: 'claims',
  fin: 'finance',
  lee: 'leads',
  odo: 'owner',
  olga: 'owner',
  opal: 'operator',
  pat: 'policies',
  uma: 'underwriting',
  una: 'underwriting',
}

/** A file's name that is the same in every run: of `/leads/{id}?status=open`, seen by Lee, `leads-leads-one-status-open`. */
const nameOf = (who: keyof Firm['people'], path: string): string =>
  `${roles[who]}${path}`
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'one')
    .replaceAll(/[^a-z]+/gi, '-')
    .replace(/-$/, '')
    .toLowerCase()

/** Keeps a picture of a page for the guide, where SHOTS names a folder. */
export const keepShot = async (page: Page, who: keyof Firm['people'], path: string): Promise<void> => {
  const folder = process.env['SHOTS']
  const { width, height } = page.viewportSize() ?? {}
  if (folder === undefined || width === undefined || height === undefined) return
  const session = await page.context().newCDPSession(page)
  const clip = { x: 0, y: 0, width, height: Math.max(height, 900), scale: width > 1_000 ? 0.75 : 1 }
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 60,
    captureBeyondViewport: true,
    clip,
  })
  await writeFile(join(folder, `${nameOf(who, path)}-${width}.webp`), data, 'base64')
}
