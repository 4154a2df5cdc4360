import type { Page } from 'playwright-core'
import { z } from 'zod'

/** Notes the part of the document that the page gives to Swagger UI. */
export const noteWhatIsShown = async (page: Page): Promise<void> => {
  await page.addInitScript(`(() => {
    let bundle
    Object.defineProperty(window, 'SwaggerUIBundle', {
      set: (given) => { bundle = given },
      get: () => (options) => {
        window.shownPart = options.spec
        return bundle(options)
      },
    })
  })()`)
}

const Shown = z.object({
  headings: z.array(z.object({ id: z.string(), tag: z.string() })),
  operations: z.array(z.object({ operationId: z.string(), tags: z.array(z.string()) })),
})

/** The headings that the page shows, and which operations stand below each: opening all of them takes a minute. */
export const subjectsOn = async (page: Page) => {
  const { headings, operations } = Shown.parse(
    await page.evaluate(`({
      headings: [...document.querySelectorAll('.opblock-tag')].map(({ id, dataset: { tag } }) => ({ id, tag })),
      operations: Object.values(window.shownPart.paths).flatMap((methods) => Object.values(methods))
        .map(({ operationId, tags }) => ({ operationId, tags })),
    })`),
  )
  return headings.map(({ id, tag }) => ({
    subject: id,
    operations: operations.flatMap(({ operationId, tags }) => (tags.includes(tag) ? [operationId] : [])),
  }))
}
