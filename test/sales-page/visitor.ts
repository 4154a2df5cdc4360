import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { z } from 'zod'

/** How a person uses a form: with a mouse or a finger, or with the keyboard alone. */
export type Visitor = {
  readonly fill: (name: string, text: string) => Promise<void>
  /** Chooses the option with this value, of radio buttons, checkboxes or a list. */
  readonly pick: (name: string, value: string) => Promise<void>
  readonly press: (button: string) => Promise<void>
}

/** The inputs of a name, each with its part of the text: a date such as 1992-03-10 has three. */
const inputsFor = async (page: Page, name: string, text: string): Promise<readonly (readonly [string, string])[]> => {
  if ((await page.locator(`fieldset.date#${name}`).count()) === 0) return [[name, text]]
  const [year = '', month = '', day = ''] = text.split('-')
  return [
    [`${name}-day`, day],
    [`${name}-month`, month],
    [`${name}-year`, year],
  ]
}

export const withMouse = (page: Page): Visitor => ({
  fill: async (name, text) => {
    for (const [id, part] of await inputsFor(page, name, text)) await page.fill(`#${id}`, part)
  },
  pick: async (name, value) => {
    const isList = (await page.locator(`select[name="${name}"]`).count()) > 0
    if (isList) await page.selectOption(`select[name="${name}"]`, value)
    else await page.check(`input[name="${name}"][value="${value}"]`)
  },
  press: (button) => page.getByRole('button', { name: button, exact: true }).click(),
})

const stopsAtMost = 80

export const withKeyboard = (page: Page): Visitor => {
  /** Tabs on until an element has the focus that fits. */
  const tabTo = async (selector: string): Promise<void> => {
    const has = `document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`
    for (let stops = 0; stops < stopsAtMost; stops++) {
      if ((await page.evaluate(has)) === true) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`The keyboard does not reach ${selector}.`)
  }
  const chosen = async (name: string) =>
    z
      .string()
      .parse(await page.evaluate(`document.activeElement?.name === '${name}' ? document.activeElement.value : ''`))

  return {
    fill: async (name, text) => {
      for (const [id, part] of await inputsFor(page, name, text)) {
        await tabTo(`#${id}`)
        await page.keyboard.press('ControlOrMeta+A')
        await page.keyboard.type(part)
      }
    },
    pick: async (name, value) => {
      const input = page.locator(`[name="${name}"]`).first()
      const type = await input.getAttribute('type')
      if (type === 'radio') {
        await tabTo(`input[name="${name}"]`)
        await page.keyboard.press('Space')
        for (let moves = 0; moves < stopsAtMost && (await chosen(name)) !== value; moves++)
          await page.keyboard.press('ArrowDown')
      } else if (type === 'checkbox') {
        await tabTo(`input[name="${name}"][value="${value}"]`)
        await page.keyboard.press('Space')
      } else {
        await tabTo(`select[name="${name}"]`)
        for (let moves = 0; moves < stopsAtMost && (await chosen(name)) !== value; moves++)
          await page.keyboard.press('ArrowDown')
      }
    },
    press: async (button) => {
      const has = `document.activeElement?.textContent === ${JSON.stringify(button)}`
      for (let stops = 0; stops < stopsAtMost && (await page.evaluate(has)) !== true; stops++)
        await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
    },
  }
}

const Violations = z.array(
  z.object({ id: z.string(), help: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
)
const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What the accessibility checker finds wrong with the page as it is. */
export const violations = async (page: Page) => {
  await page.evaluate(await axeSource)
  return Violations.parse(await page.evaluate('axe.run(document).then(({ violations }) => violations)'))
}

/** Nothing is cut off, or has to be scrolled to sideways. */
export const expectToFit = async (page: Page): Promise<void> => {
  const [width, visible] = z
    .tuple([z.number(), z.number()])
    .parse(await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]'))
  expect(width).toBeLessThanOrEqual(visible)
}

/** Pictures for people, where SCREENSHOTS names a folder. */
export const takePicture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
