import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeProvenance, tidyProvenance } from '#domain/provenance.ts'

const tidyUrl = (page_url: string) => tidyProvenance({ page_url })?.page_url

test.each([
  ['https://shop.example/life?step=2#section', 'https://shop.example/life?step=2'],
  ['https://shop.example/?email=a%40b.example&step=2', 'https://shop.example/?step=2'],
  ['https://shop.example/?user%5Bphone%5D=1&step=2', 'https://shop.example/?step=2'],
  ['https://shop.example/?firstName=Anna&last_name=Ash&name=x&username=y', 'https://shop.example/'],
  ['https://shop.example/?dob=1990-01-01&postcode=LS1+1AA&post_code=x&birthday=y', 'https://shop.example/'],
  ['https://shop.example/?access_token=t&ol=t&session=s&code=c&api_key=k&pwd=1', 'https://shop.example/'],
  ['https://shop.example/?q=anna%40example.org&x=%2540', 'https://shop.example/'],
  ['https://shop.example/?who=07700+900123&n=123', 'https://shop.example/?n=123'],
  ['https://shop.example/?next=%2Fquote%3Femail%3Dx%26a%3D1', 'https://shop.example/'],
  [
    'https://shop.example/?utm_id=120208345678901&gclid=07700900123',
    'https://shop.example/?utm_id=120208345678901&gclid=07700900123',
  ],
  ['https://anna:secret@shop.example/life', 'https://shop.example/life'],
  ['https://shop.example/of/anna@example.org/07700900123/edit', 'https://shop.example/of/-/-/edit'],
  ['https://shop.example/of/1234%205678/edit', 'https://shop.example/of/-/edit'],
  [
    'https://shop.example/of/a077009001/0770090012b/12345678',
    'https://shop.example/of/a077009001/0770090012b/12345678',
  ],
  ['https://shop.example/?n=a077009001&m=0770090012b', 'https://shop.example/?n=a077009001&m=0770090012b'],
  ['http://shop.example/life', 'http://shop.example/life'],
  ['https://shop.example/?my_tel=x&hotel=y&tel_no=z', 'https://shop.example/?hotel=y'],
  ['https://shop.example/?names=x&name_of=y&n=z', 'https://shop.example/?names=x&n=z'],
  ['https://shop.example/?next=%2Fquote%3Fpostcode%3Dx', 'https://shop.example/'],
  ['https://shop.example/?next=%2Fquote%3Fpost_code%3Dx', 'https://shop.example/'],
  ['https://shop.example/?next=%2Fquote%3Fmail_to%3Dx', 'https://shop.example/'],
  [`https://shop.example/${'x'.repeat(1979)}`, `https://shop.example/${'x'.repeat(1979)}`],
])('%s is kept as %s', (sent, kept) => {
  expect(tidyUrl(sent)).toBe(kept)
})

test.each([
  ['not an address', 'somewhere'],
  ['another scheme', 'javascript:alert(1)'],
  ['a file', 'file:///etc/passwd'],
  ['of a scheme like it', 'shttp://shop.example/'],
  ['no text', 5],
  ['more than 2,000 characters', `https://shop.example/${'x'.repeat(1980)}`],
])('a page address that is %s is dropped, not refused', (_what, page_url) => {
  expect(tidyProvenance({ page_url, locale: 'en' })).toEqual({ locale: 'en' })
})

test('utm tags and click ids are found in the page address', () => {
  const page_url = 'https://shop.example/?utm_source=ad&utm_medium=cpc&utm_unknown=x&gclid=abc'
  expect(tidyProvenance({ page_url })).toEqual({
    page_url,
    utm: { source: 'ad', medium: 'cpc' },
    click_ids: { gclid: 'abc' },
  })
})

test('what is sent apart comes before what stands in the page address', () => {
  const page_url = 'https://shop.example/?utm_source=ad'
  const utm = { source: 'letter', term: 'x'.repeat(201), content: 5, campaign: 'anna@example.org', other: 'y' }
  expect(tidyProvenance({ page_url, utm })).toEqual({ page_url, utm: { source: 'letter' } })
})

test.each([
  ['page_title', '  Life\u0000 cover \n now ', 'Life cover now'],
  ['page_title', 'x'.repeat(300), 'x'.repeat(300)],
  ['page_title', 'x'.repeat(301), undefined],
  ['page_title', '', undefined],
  ['locale', 'en-gb', 'en-GB'],
  ['locale', 'not a locale', undefined],
  ['locale', ['en'], undefined],
  ['locale', 'en-x-aaaaaaaa-bbbbbbbb-cccccccc-ddd', 'en-x-aaaaaaaa-bbbbbbbb-cccccccc-ddd'],
  ['locale', 'en-x-aaaaaaaa-bbbbbbbb-cccccccc-dddd', undefined],
  ['timezone', 'Europe/London', 'Europe/London'],
  ['timezone', 'Europe/Atlantis', undefined],
  ['timezone', '+01:00', undefined],
  ['click_ids', { gclid: 'x'.repeat(501), fbclid: 'y', other: 'z' }, { fbclid: 'y' }],
  ['click_ids', ['x'], undefined],
  ['referrer', 'https://search.example/?q=life&email=x#y', 'https://search.example/?q=life'],
])('%s %j is kept as %j', (name, sent, kept) => {
  expect(tidyProvenance({ [name]: sent })).toEqual(kept === undefined ? null : { [name]: kept })
})

test('every tag of a campaign and every click id is kept under its name', () => {
  const utm = { source: 'a', medium: 'b', campaign: 'c', term: 'd', content: 'e' }
  const click_ids = { gclid: 'f', gbraid: 'g', wbraid: 'h', fbclid: 'i', msclkid: 'j', ttclid: 'k' }

  expect(tidyProvenance({ utm, click_ids })).toEqual({ utm, click_ids })
})

test.each([undefined, null, 'x', 5, [], {}, { unknown: 1 }])('of %j nothing is kept', (sent) => {
  expect(tidyProvenance(sent)).toBeNull()
})

test('what was known first stays, what comes later fills gaps', () => {
  expect(mergeProvenance({ locale: 'en' }, { locale: 'fr', timezone: 'UTC' })).toEqual({
    locale: 'en',
    timezone: 'UTC',
  })
  expect(mergeProvenance(null, { locale: 'fr' })).toEqual({ locale: 'fr' })
  expect(mergeProvenance({ locale: 'en' }, null)).toEqual({ locale: 'en' })
  expect(mergeProvenance(null, null)).toBeNull()
})

test('an address never keeps an email address, a phone number or a token', () => {
  const secret = fc.constantFrom(
    ['email', 'anna@example.org'],
    ['Email', 'x'],
    ['customer[email]', 'anna'],
    ['q', 'anna@example.org'],
    ['phone', '1'],
    ['contact_phone', '1'],
    ['tel', '07700900123'],
    ['who', '+44 7700 900123'],
    ['token', 'secret'],
    ['shareToken', 'secret'],
    ['name', 'anna'],
    ['dob', '1990-01-15'],
    ['postcode', 'LS1 1AA'],
  )
  const harmless = fc.tuple(fc.constantFrom('step', 'a', 'utm_source', 'page'), fc.stringMatching(/^[a-z]{0,5}$/))
  fc.assert(
    fc.property(fc.array(fc.oneof(secret, harmless)), fc.webFragments(), fc.boolean(), (pairs, fragment, asPage) => {
      const address = `https://shop.example/life?${new URLSearchParams(pairs as [string, string][]).toString()}#${fragment}`
      const tidied = tidyProvenance(asPage ? { page_url: address } : { referrer: address })
      const kept = new URL(tidied?.page_url ?? tidied?.referrer ?? '')
      const expected = pairs.filter(([name]) => ['step', 'a', 'utm_source', 'page'].includes(String(name)))
      expect([...kept.searchParams]).toEqual(expected)
      expect(kept.hash).toBe('')
    }),
  )
})

test('whatever is sent, what is kept can be kept again', () => {
  fc.assert(
    fc.property(fc.anything(), fc.webUrl({ withQueryParameters: true, withFragments: true }), (junk, address) => {
      for (const sent of [junk, { page_url: address, referrer: junk, utm: junk, click_ids: junk, locale: junk }]) {
        const kept = tidyProvenance(sent)
        expect(tidyProvenance(kept)).toEqual(kept)
      }
    }),
  )
})
