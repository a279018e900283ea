// The style of an exported plan, which has no other file.
const style = 'body{font:15px/1.5 system-ui,sans-serif;margin:2rem;max-width:70rem}table{border-collapse:collapse}th,td{border:1px solid #888;padding:.2rem .5rem;text-align:left;vertical-align:top}caption{text-align:left}.step{margin:.3rem 0}';

// exportPlan saves the plan that is shown as one HTML file. The browser has encoded every text.
export function exportPlan() {
  const body = document.getElementById('plan').cloneNode(true);
  for (const details of body.querySelectorAll('details')) details.setAttribute('open', '');
  for (const link of body.querySelectorAll('a')) link.replaceWith(...link.childNodes);
  const time = new Date().toISOString();
  const text = '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'"><title>Plan of Berth, ' + time + '</title><style>' + style + '</style></head><body><h1>Plan of Berth</h1><p>' + time + '</p>' + body.innerHTML + '</body></html>';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
  link.download = 'plan.html';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return text;
}
