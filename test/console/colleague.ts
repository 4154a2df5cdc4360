import type { Browser, Page } from 'playwright-core'
import type { Member } from '../users/team.ts'

export type Look = NonNullable<Parameters<Browser['newContext']>[0]>

type Colleague = {
  readonly browser: Browser
  readonly origin: string
  readonly who: Pick<Member, 'key'>
  readonly look?: Look | undefined
}

/** A colleague's own browser, signed in, with all that its pages reported as wrong. */
export const openAs = async ({ browser, origin, who, look = {} }: Colleague) => {
  const context = await browser.newContext(look)
  const page = await context.newPage()
  const reported: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) reported.push(message.text())
  })
  page.on('pageerror', (error) => reported.push(error.message))
  await page.goto(`${origin}/console`)
  await page.fill('#key', who.key)
  await page.press('#key', 'Enter')
  await page.waitForURL(/\/(work|organisations)$/)
  return { page, reported, [Symbol.asyncDispose]: async () => context.close() }
}

/** Opens all that is folded on a page. */
export const unfold = (page: Page): Promise<unknown> =>
  page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
