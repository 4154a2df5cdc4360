/* global SwaggerUIBundle */
// The page of the explorer. In the demo, the service answers what to sign in with and an example for each operation.

const answered = async (response) => ((await response).ok ? (await response).json() : undefined)

const signIn = async (demo, resource) => {
  const form = { grant_type: 'client_credentials', client_id: demo.client_id, client_secret: demo.client_secret }
  const body = new URLSearchParams({ ...form, scope: 'read write crm outcomes', resource })
  return (await answered(fetch('/oauth/token', { method: 'POST', body })))?.access_token
}

const fillIn = (operation, { path = {}, query = {}, body }) => {
  for (const parameter of operation.parameters ?? []) {
    const value = { path, query }[parameter.in]?.[parameter.name]
    if (value !== undefined) parameter.example = value
  }
  for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
    if (body === undefined) continue
    if (type === 'application/x-www-form-urlencoded')
      for (const [name, value] of Object.entries(body)) content.schema.properties[name].example = value
    else content.example = body
  }
}

const ofOrganisation = '/admin/v1/organisations/{organisation_id}/'
const isOfOperator = (path) => /^\/(admin|audit)\//.test(path)
const isOfOrganisation = (path) => path.replace('/audit/', '/admin/').startsWith(ofOrganisation)

// Swagger UI shows only the first few of more than some 130 operations, so the page has one part of them at a time.
const areas = {
  api: { title: 'For servers and pages', has: (path) => !isOfOperator(path) },
  organisation: { title: 'For the operator: one organisation', has: isOfOrganisation },
  installation: {
    title: 'For the operator: everything else',
    has: (path) => isOfOperator(path) && !isOfOrganisation(path),
  },
}

/** The subject of an operator's address: `Leads`, `Rate tables`. */
const subjectOf = (path) => {
  if (path.startsWith('/audit/')) return 'Audit'
  const [, , , first = ''] = path.replace(ofOrganisation, '/admin/v1/').split('/')
  return `${first.charAt(0).toUpperCase()}${first.slice(1).replaceAll('_', ' ')}`
}

/** The part of the document that is shown, grouped by what its operations are about. */
const keepOnly = (document, area) => {
  const paths = Object.entries(document.paths).filter(([path]) => areas[area].has(path))
  for (const [path, methods] of paths)
    if (area !== 'api') for (const operation of Object.values(methods)) operation.tags = [subjectOf(path)]
  document.paths = Object.fromEntries(paths)
  if (area !== 'api') delete document.webhooks
  const operations = [...paths, ...Object.entries(document.webhooks ?? {})].flatMap(([, methods]) =>
    Object.values(methods),
  )
  const used = new Set(operations.flatMap(({ tags }) => tags))
  document.tags = area === 'api' ? document.tags.filter(({ name }) => used.has(name)) : []
}

const showNotice = (text) => {
  const notice = window.document.createElement('p')
  notice.role = 'status'
  notice.textContent = text
  notice.style.cssText = 'font: 1rem sans-serif; margin: 0; padding: 0.75rem 1.75rem; background: #fff3cd'
  window.document.getElementById('explorer').before(notice)
  return notice
}

const showAreas = (chosen) => {
  const list = window.document.createElement('nav')
  list.ariaLabel = 'Parts of the API'
  list.style.cssText =
    'font: 1rem sans-serif; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; padding: 1rem 1.75rem'
  for (const [name, { title }] of Object.entries(areas)) {
    const link = window.document.createElement('a')
    link.href = `?area=${name}`
    link.textContent = title
    if (name === chosen) {
      link.ariaCurrent = 'page'
      link.style.cssText = 'font-weight: bold; text-decoration: none; color: inherit'
    }
    list.append(link)
  }
  window.document.getElementById('explorer').before(list)
}

const fillInAll = (document, demo) => {
  document.info.description = `${document.info.description ?? ''}\n\nSigned in to the demo organisation, and as the operator.`
  for (const methods of Object.values(document.paths))
    for (const operation of Object.values(methods)) fillIn(operation, demo.examples[operation.operationId] ?? {})
}

/** Sign-in and examples of the demo; nothing where there is none: whoever looks then signs in with “Authorize”. */
const prepareDemo = async (resource) => {
  const notice = showNotice('The examples are being prepared. They are filled in within seconds…')
  const response = await fetch('/api/v1/explorer/demo.json')
  if (!response.ok) {
    if (response.status === 404) notice.remove()
    else notice.textContent = `The demo could not be prepared (${response.status}). Load the page again in a while.`
    return {}
  }
  const demo = await response.json()
  const token = await signIn(demo, resource)
  notice.remove()
  return { demo, token }
}

const start = async () => {
  const asked = new URLSearchParams(location.search).get('area')
  const area = Object.hasOwn(areas, asked ?? '') ? asked : 'api'
  showAreas(area)
  const document = await answered(fetch('/api/v1/openapi.json'))
  if (document === undefined) {
    window.document.getElementById('explorer').textContent = 'The OpenAPI document was not made. Run npm run openapi.'
    return
  }
  keepOnly(document, area)
  const resource = `${document.servers[0].url}/api/v1`
  document.servers = [{ url: location.origin }]
  const prepared = prepareDemo(resource)

  const shown = SwaggerUIBundle({
    spec: document,
    dom_id: '#explorer',
    deepLinking: true,
    // A phone would show a page of 26,000 pixels; and each click draws again all that is open.
    docExpansion: 'none',
    tryItOutEnabled: true,
    syntaxHighlight: { activated: false },
    requestInterceptor: async (request) => {
      const { pathname } = new URL(request.url, location.origin)
      if (pathname === '/oauth/token' && !String(request.body).includes('resource='))
        request.body = `${request.body}&resource=${encodeURIComponent(resource)}`
      if (pathname === '/oauth/token' || request.headers.Authorization) return request
      const { demo, token } = await prepared
      const bearer = isOfOperator(pathname) ? demo?.operator_key : token
      if (bearer) request.headers.Authorization = `Bearer ${bearer}`
      return request
    },
  })
  const { demo } = await prepared
  if (demo) {
    const filled = structuredClone(document)
    fillInAll(filled, demo)
    shown.specActions.updateJsonSpec(filled)
  }
  // For tests: what is pressed from now on has its example.
  window.document.body.dataset.examples = 'ready'
}

void start()
