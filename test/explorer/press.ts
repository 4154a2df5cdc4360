import type { Page } from 'playwright-core'
import { z } from 'zod'

const Pressed = z.object({ id: z.string(), answer: z.string() })

/** Runs in the page: opens an operation, presses “Execute” and resolves to what is shown as the answer. */
const script = (id: string) => `(async () => {
  const until = async (find) => {
    const deadline = Date.now() + 60_000
    for (;;) {
      const found = find()
      if (found || Date.now() > deadline) return found
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const block = () => document.getElementById(${JSON.stringify(id)})
  block().querySelector('.opblock-summary-control').click()
  const button = await until(() => block().querySelector('button.execute'))
  // The button does nothing before its form has been rendered once more.
  await new Promise((resolve) => setTimeout(resolve, 300))
  const shown = button && block().querySelector('button.execute')
  shown?.click()
  const answer = await until(() =>
    block().querySelector('.live-responses-table tbody .response') ?? block().querySelector('.invalid'))
  const text = answer?.innerText ?? 'no answer'
  block().querySelector('.opblock-summary-control').click()
  await until(() => !block().querySelector('button.execute'))
  return { id: ${JSON.stringify(id)}, answer: text }
})()`

/** Presses an operation of the explorer. The answer begins with its status. */
export const press = async (page: Page, id: string) => Pressed.parse(await page.evaluate(script(id)))
